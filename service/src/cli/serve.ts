// offerbook serve: the production server.

import { type Command, Option } from 'commander';
import pino from 'pino';
import { readDatabaseUrl, readServeSettings, SERVE_FLAGS } from '../config.ts';
import { command } from './command.ts';
import { startNode } from './node.ts';
import { untilToldToStop } from './signals.ts';
import { runWorkers } from './workers.ts';

export function serveCommand(): Command {
  const serve = command(
    'serve',
    'run the server',
    'offerbook serve --port 8080 --database postgres://user@host/offerbook',
  );
  for (const { flag, help } of SERVE_FLAGS) serve.option(flag, help);
  // For the processes that --workers starts.
  serve.addOption(new Option('--share-port').hideHelp());
  return serve.action(runServer);
}

async function runServer(flags: Record<string, string | boolean | undefined>): Promise<void> {
  const settings = readServeSettings(flags);
  const databaseUrl = readDatabaseUrl(flags.database as string | undefined);
  const logger = pino({
    level: settings.logLevel,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
  if (settings.workers > 1) {
    await runWorkers(settings, databaseUrl, logger);
    return;
  }
  // Listened for from here on, so that an order to stop that comes during the start is not missed.
  const stop = untilToldToStop();
  const node = await startNode({ settings, databaseUrl, logger, sharesPort: flags.sharePort === true });
  await stop;
  logger.info('draining');
  await node.stop();
}
