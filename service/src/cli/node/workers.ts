// offerbook serve --workers N: several processes that share one port, for machines with several cores. This
// process starts them, replaces one that dies, keeps the counts that they share, and passes the order to stop on.

import { join } from 'node:path';
import { type ServeSettings, workerEnvironment } from '../../config.ts';
import { systemClock } from '../../domain/clock.ts';
import { BadInput } from '../../domain/failures.ts';
import type { Logger } from '../../domain/logger.ts';
import { CountKeeper, SHARED_COUNTS_BYTES } from '../../http/access/shared-counts.ts';
import { openStores, SERVER_OPTIONS } from '../../storage/open-stores.ts';
import { currentUser } from '../current-user.ts';
import { adminPlace } from './admin.ts';
import { bind, type Place } from './listen.ts';
import { requireReplicable } from './node.ts';
import { createSharedMemory } from './shared-memory.ts';

const RESTART_MS = 1_000;
/** With which a process ends that was started with something wrong. */
const BAD_INPUT = 2;
const MAIN = join(import.meta.dir, '..', '..', 'main.ts');

export async function runWorkers(
  settings: ServeSettings,
  databaseUrl: string,
  logger: Logger,
  stop: Promise<void>,
): Promise<void> {
  // Migrates, and finds out about a bad URL or a taken port once instead of in every worker.
  requireReplicable(databaseUrl, settings);
  await (await openStores(databaseUrl, SERVER_OPTIONS, systemClock, { by: currentUser() })).close();
  const adminPorts = Array.from({ length: settings.workers }, (_, index) =>
    // Metrics are those of one process, so each worker has an admin port of its own.
    settings.adminPort === undefined ? undefined : settings.adminPort + index,
  );
  const port = findPort(settings, adminPorts);
  let stopping = false;
  const memory = createSharedMemory(SHARED_COUNTS_BYTES);
  if (memory === undefined)
    logger.warn('there is no place for shared memory; each worker counts requests for itself');
  const keeper = memory === undefined ? undefined : new CountKeeper(new Int32Array(memory.bytes.buffer));

  const refusal = Promise.withResolvers<'refused'>();
  async function keepRunning(env: Record<string, string>): Promise<void> {
    for (let isFirst = true; !stopping; isFirst = false) {
      const command = [MAIN, 'serve', '--worker-of', String(process.pid)];
      const worker = Bun.spawn([process.execPath, ...process.execArgv, ...command], {
        env,
        stdio: ['ignore', 'inherit', 'inherit', memory?.file ?? 'ignore'],
      });
      workers.add(worker);
      const code = await worker.exited;
      workers.delete(worker);
      if (stopping) return;
      // It has said what is wrong, and the next one would find the same.
      if (isFirst && code === BAD_INPUT) return refusal.resolve('refused');
      logger.error({ worker: worker.pid, code }, 'a worker ended; starting another');
      await Bun.sleep(RESTART_MS);
    }
  }

  const workers = new Set<Bun.Subprocess>();
  const running = adminPorts.map((adminPort) =>
    keepRunning(workerEnvironment({ ...settings, port, adminPort }, databaseUrl)),
  );
  const reason = await Promise.race([stop, refusal.promise]);
  stopping = true;
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(running);
  keeper?.stop();
  if (reason === 'refused') throw new BadInput('a worker could not start, so neither does the server');
}

/**
 * The port that all workers are told. Workers can share a port with whoever lets them, so that another server on it would
 * go unnoticed: it is bound here once without sharing, and so are the admin ports, all at the same time.
 */
function findPort({ host, port }: ServeSettings, adminPorts: readonly (number | undefined)[]): number {
  const places: Place[] = [{ host, port, option: '--port' }];
  for (const adminPort of adminPorts) if (adminPort !== undefined) places.push(adminPlace(adminPort));
  const bound: Bun.Server<undefined>[] = [];
  try {
    for (const place of places) {
      const { host: hostname, port } = place;
      bound.push(bind(place, () => Bun.serve({ hostname, port, fetch: () => new Response() })));
    }
    return bound[0]?.port ?? 0;
  } finally {
    for (const server of bound) server.stop(true);
  }
}
