// offerbook serve: the production server.

import type { Command } from 'commander';
import { SERVE_FLAGS } from '../../../config.ts';
import { systemClock } from '../../../domain/clock.ts';
import { command } from '../../command.ts';
import { requireSpool } from '../../node/activation.ts';
import { openLog, toStdout } from '../../node/log-writer.ts';
import { startNode } from '../../node/node.ts';
import { type NodeFlags, readNodeSettings } from '../../node/node-settings.ts';
import { endWithin, LEFTOVERS_MAX_MS, STOP_MAX_MS, stopSignal } from '../../node/signals.ts';
import { openWorkers, type WorkerParts } from '../../node/workers/workers.ts';

export function serveCommand(parts: WorkerParts = {}): Command {
  const serve = command(
    'serve',
    'run the server',
    'offerbook serve --port 8080 --database postgres://user@host/offerbook',
  );
  for (const { flag, help } of SERVE_FLAGS) serve.option(flag, help);
  return serve.action((flags) => runServer(flags, parts));
}

async function runServer(flags: NodeFlags, parts: WorkerParts): Promise<void> {
  const { settings, databaseUrl, tracing } = readNodeSettings(flags);
  requireSpool(settings);
  const log = openLog(settings.logLevel, toStdout);
  // Registered before the node starts, so that no signal is missed.
  const stop = stopSignal();
  const stopMaxMs = settings.drainDelay * 1_000 + STOP_MAX_MS;
  void stop.then(() => endWithin(stopMaxMs));
  const { logger } = log;
  try {
    const options = { settings, databaseUrl, tracing, logger, clock: systemClock };
    const serving = settings.workers > 1 ? openWorkers({ ...options, ...parts }) : undefined;
    const starting = startNode(options, { serving });
    const node = await Promise.race([starting, stop]);
    if (node === undefined) {
      // No request has been served and nothing was written, so the process can exit immediately.
      starting.catch(() => {});
      logger.info('stopped');
      return;
    }
    try {
      await Promise.race([stop, node.failure ?? stop]);
    } catch (error) {
      endWithin(stopMaxMs, 1);
      throw error;
    } finally {
      logger.info('draining');
      await node.stop();
    }
  } finally {
    await log.close();
    endWithin(LEFTOVERS_MAX_MS);
  }
}
