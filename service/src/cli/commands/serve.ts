// offerbook serve: the production server.

import { type Command, Option } from 'commander';
import { readDatabaseUrl, readServeSettings, SERVE_FLAGS } from '../../config.ts';
import { command } from '../command.ts';
import { openLog, STDOUT } from '../node/logger.ts';
import { type NodeOptions, startNode } from '../node/node.ts';
import { untilOrphaned, untilToldToStop } from '../node/signals.ts';
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
  try {
    if (settings.workers > 1) await runWorkers(settings, databaseUrl, log.logger);
    else await runNode({ settings, databaseUrl, logger: log.logger }, flags.workerOf as string | undefined);
  } finally {
    log.close();
  }
}

async function runNode(options: NodeOptions, workerOf: string | undefined): Promise<void> {
  // Listened for from here on, so that an order to stop that comes during the start is not missed.
  const stop = Promise.race([
    untilToldToStop(),
    ...(workerOf === undefined ? [] : [untilOrphaned(Number(workerOf))]),
  ]);
  const node = await startNode({ ...options, sharesPort: workerOf !== undefined });
  await stop;
  options.logger.info('draining');
  await node.stop();
}
