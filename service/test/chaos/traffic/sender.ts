// Starts and disturbs a process that sends webhooks.

import { join } from 'node:path';
import type { Delivery } from '../../webhooks/receiver.ts';
import type { Run } from '../report/run.ts';
import { LEASE_MS, TIMEOUT_MS } from './sender-process.ts';

/** Longer than a lease, so that the other sender takes over. */
export const TAKEOVER_MS = LEASE_MS + 300;
/** A request ends at most this long after it was begun, not counting a freeze. */
const REQUEST_MAX_MS = TIMEOUT_MS + 1_000;
const PROGRAM = join(import.meta.dir, 'sender-process.ts');

export interface Freeze {
  readonly sender: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * True for a request that a sender began before a freeze and sent after it, which docs/webhooks.md allows. Between the check of
 * the lease and the write to the socket, the sender cannot notice that time has passed.
 */
export function isDelayedBy({ startMs, endMs }: Freeze, { madeAtMs, arrivedAtMs }: Delivery): boolean {
  const isBegun = startMs - REQUEST_MAX_MS <= madeAtMs && madeAtMs <= startMs;
  return isBegun && endMs <= arrivedAtMs && arrivedAtMs <= endMs + REQUEST_MAX_MS;
}

/** Starts a process that sends webhooks. Returns functions that disturb it; each resolves when the process can send again. */
export function startSender(
  run: Run,
  databaseUrl: string,
  name: string,
  freezes: Freeze[],
): Readonly<Record<string, () => Promise<void>>> {
  const errors: Promise<string>[] = [];
  const start = () => {
    const child = Bun.spawn([process.execPath, PROGRAM, databaseUrl], {
      stdio: ['ignore', 'pipe', 'inherit'],
      ipc: () => {},
    });
    errors.push(new Response(child.stdout).text());
    return child;
  };
  let child = start();
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await child.exited;
  };
  run.defer(async () => {
    await stop('SIGKILL');
    for (const line of (await Promise.all(errors)).join('').split('\n'))
      if (line !== '') run.violation('ERROR', line);
  });
  return {
    async restarted() {
      await stop('SIGTERM');
      child = start();
    },
    async killed() {
      await stop('SIGKILL');
      await Bun.sleep(TAKEOVER_MS);
      child = start();
    },
    async frozen() {
      child.kill('SIGSTOP');
      const startMs = Date.now();
      await Bun.sleep(TAKEOVER_MS);
      child.kill('SIGCONT');
      freezes.push({ sender: name, startMs, endMs: Date.now() });
    },
    async 'cut off from the lease'() {
      child.send(true);
      await Bun.sleep(TAKEOVER_MS);
      child.send(false);
    },
  };
}
