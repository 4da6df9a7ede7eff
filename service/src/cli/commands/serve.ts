// offerbook serve: the production server.

import { type Command, Option } from 'commander';
import { readDatabaseUrl, readServeSettings, SERVE_FLAGS } from '../../config.ts';
import { command } from '../command.ts';
import { openLog, STDOUT } from '../node/logger.ts';
import { type NodeOptions, startNode } from '../node/node.ts';
import { endWithin, LEFTOVERS_MAX_MS, STOP_MAX_MS, untilOrphaned, untilToldToStop } from '../node/signals.ts';
import { runWorkers } from '../node/workers.ts';

export function serveCommand(): Command {
  const serve = command(
    'serve',
    'run the server',
    'offerbook serve --port 8080 --database postgres://user@host/offerbook',
  );
  for (const { flag, help } of SERVE_FLAGS) serve.option(flag, help);
  // For the processes that --workers starts.
  serve.addOption(new Option('--worker-of <process id>').hideHelp());
  return serve.action(runServer);
}

async function runServer(flags: Record<string, string | boolean | undefined>): Promise<void> {
  const settings = readServeSettings(flags);
  const databaseUrl = readDatabaseUrl(flags.database as string | undefined);
  const log = openLog(settings.logLevel, STDOUT);
  // Listened for from here on, so that an order to stop that comes during the start is not missed.
  const stop = untilToldToStop();
  void stop.then(() => endWithin(settings.drainDelay * 1_000 + STOP_MAX_MS));
  try {
    if (settings.workers > 1) await runWorkers(settings, databaseUrl, log.logger, stop);
    else await runNode({ settings, databaseUrl, logger: log.logger }, stop, flags.workerOf);
  } finally {
    await log.close();
    endWithin(LEFTOVERS_MAX_MS);
  }
}

async function runNode(options: NodeOptions, told: Promise<void>, workerOf: unknown): Promise<void> {
  const stop = workerOf === undefined ? told : Promise.race([told, untilOrphaned(Number(workerOf))]);
  const starting = startNode({ ...options, sharesPort: workerOf !== undefined });
  const node = await Promise.race([starting, stop]);
  if (node === undefined) {
    // Nothing has been served yet that could be finished, and nothing is written: the process may just end.
    starting.catch(() => {});
    options.logger.info('stopped');
    return;
  }
  await stop;
  options.logger.info('draining');
  await node.stop();
}
