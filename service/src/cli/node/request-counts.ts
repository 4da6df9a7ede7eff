// How a node counts requests for its limits: in the memory of its one process, or in memory that its workers share.

import { type CounterMaker, LocalCounter } from '../../http/access/request-counter.ts';
import { KeeperWatch, SHARED_COUNTS_BYTES, SharedCounter } from '../../http/access/shared-counts.ts';
import { findSharedMemory } from './shared-memory.ts';

export function requestCounter(sharesPort: boolean): CounterMaker {
  // The process that started the workers has left the memory open, unless there was no place for it.
  const memory = sharesPort ? findSharedMemory(SHARED_COUNTS_BYTES) : undefined;
  if (memory === undefined) return () => new LocalCounter();
  const table = new Int32Array(memory.buffer);
  const watch = new KeeperWatch(table);
  return (policy) => new SharedCounter(table, policy, watch);
}
