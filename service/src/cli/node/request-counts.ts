// How a node counts requests for its limits: for itself, in memory that its workers share, or with other
// nodes through the database.

import { type CounterMaker, LocalCounter } from '../../http/access/request-counter.ts';
import { KeeperWatch, SHARED_COUNTS_BYTES, SharedCounter } from '../../http/access/shared-counts.ts';
import { type InstantCounter, PermitPool, permitCounters } from '../../http/permit-counter.ts';
import { openPermitStore } from '../../storage/permit-store.ts';
import type { NodeOptions } from './node.ts';
import { findSharedMemory } from './shared-memory.ts';

export interface RequestCounts {
  readonly counter: CounterMaker;
  /** Whether other nodes count along; undefined when they are not meant to. */
  readonly isShared: () => boolean | undefined;
  readonly stop: () => Promise<void>;
}

export function openRequestCounter({
  settings,
  databaseUrl,
  logger,
  sharesPort,
}: NodeOptions): RequestCounts {
  const ofThisNode = sharesPort === true ? countersOfWorkers() : () => new LocalCounter();
  if (settings.rateLimitStore === 'local') {
    return { counter: ofThisNode, isShared: () => undefined, stop: async () => {} };
  }
  const store = openPermitStore(databaseUrl);
  const pool = new PermitPool(store, {
    onAway: (error) =>
      logger.warn({ err: error }, 'the database does not count requests; each node counts for itself'),
    onBack: () => logger.info('the database counts requests again'),
  });
  return {
    counter: permitCounters(pool, ofThisNode),
    isShared: () => !pool.isAway,
    async stop() {
      pool.stop();
      await store.close();
    },
  };
}

/** The process that started this one has left the memory open, unless there was no place for it. */
function countersOfWorkers(): (policy: string) => InstantCounter {
  const memory = findSharedMemory(SHARED_COUNTS_BYTES);
  if (memory === undefined) return () => new LocalCounter();
  const table = new Int32Array(memory.buffer);
  const watch = new KeeperWatch(table);
  return (policy) => new SharedCounter(table, policy, watch);
}
