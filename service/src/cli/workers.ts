// offerbook serve --workers N: several processes that share one port, for machines with several cores. This
// process starts them, replaces one that dies, keeps the counts that they share, and passes the order to stop on.

import { join } from 'node:path';
import type { Logger } from 'pino';
import { type ServeSettings, workerEnvironment } from '../config.ts';
import { CountKeeper, SHARED_COUNTS_BYTES } from '../http/shared-counts.ts';
import { openStores, SERVER_OPTIONS } from '../storage/open-stores.ts';
import { createSharedMemory } from './shared-memory.ts';
import { untilToldToStop } from './signals.ts';

const RESTART_MS = 1_000;
const MAIN = join(import.meta.dir, '..', 'main.ts');

export async function runWorkers(
  settings: ServeSettings,
  databaseUrl: string,
  logger: Logger,
): Promise<void> {
  // Migrates, and finds out about a bad URL once instead of in every worker.
  await (await openStores(databaseUrl, SERVER_OPTIONS)).close();
  const port = settings.port || freePort(settings.host);
  let stopping = false;
  const memory = createSharedMemory(SHARED_COUNTS_BYTES);
  if (memory === undefined)
    logger.warn('there is no place for shared memory; each worker counts requests for itself');
  const keeper = memory === undefined ? undefined : new CountKeeper(new Int32Array(memory.bytes.buffer));

  async function keepRunning(env: Record<string, string>): Promise<void> {
    while (!stopping) {
      const command = [MAIN, 'serve', '--worker-of', String(process.pid)];
      const worker = Bun.spawn([process.execPath, ...process.execArgv, ...command], {
        env,
        stdio: ['ignore', 'inherit', 'inherit', memory?.file ?? 'ignore'],
      });
      workers.add(worker);
      const code = await worker.exited;
      workers.delete(worker);
      if (stopping) return;
      logger.error({ worker: worker.pid, code }, 'a worker ended; starting another');
      await Bun.sleep(RESTART_MS);
    }
  }

  const workers = new Set<Bun.Subprocess>();
  const running = Array.from({ length: settings.workers }, (_, index) => {
    // Metrics are those of one process, so each worker has an admin port of its own.
    const adminPort = settings.adminPort === undefined ? undefined : settings.adminPort + index;
    return keepRunning(workerEnvironment({ ...settings, port, adminPort }, databaseUrl));
  });
  await untilToldToStop();
  stopping = true;
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(running);
  keeper?.stop();
}

/** A port that was free a moment ago: workers must all be told the same one. */
function freePort(host: string): number {
  const probe = Bun.serve({ port: 0, hostname: host, fetch: () => new Response() });
  const { port } = probe;
  probe.stop(true);
  return port ?? 0;
}
