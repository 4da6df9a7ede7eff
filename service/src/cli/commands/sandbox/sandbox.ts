// offerbook sandbox: a demo server with synthetic data that keeps changing. The data is written with the same imports as
// in production.

import { existsSync, rmSync } from 'node:fs';
import { drawLogo } from '@offerbook/sandbox/logo.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { type Command, Option } from 'commander';
import { readServeSettings } from '../../../config.ts';
import { ApiError } from '../../../domain/api-errors.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Logger } from '../../../domain/logger.ts';
import type { Route } from '../../../http/router.ts';
import { CLICK_END, sqlitePath } from '../../../storage/open-database.ts';
import { closing } from '../../../storage/open-once.ts';
import { CREATE_OPTIONS } from '../../../storage/open-stores.ts';
import { databaseOption, openForWriting, plainCommand } from '../../command.ts';
import { findPort, preferPort, urlOf } from '../../node/listen.ts';
import { openLog, toStderr } from '../../node/log-writer.ts';
import { startNode } from '../../node/node.ts';
import type { NodeFlags } from '../../node/node-settings.ts';
import { endWithin, LEFTOVERS_MAX_MS, STOP_MAX_MS, stopSignal } from '../../node/signals.ts';
import { parseCount } from '../../option-values.ts';
import { print } from '../../output.ts';
import { lockFile } from './file-lock.ts';
import { serveNetworks } from './networks.ts';
import { findSeed, openOrganisation, openTokens } from './organisation.ts';
import { RECEIVER_ADDRESS, startToyReceiver } from './toy-receiver.ts';
import { linkToToyShop, toyShopRoutes } from './toy-shop.ts';
import { FEED_PATH, transactionFeed } from './transaction-feed.ts';
import { welcomeText } from './welcome.ts';
import { openWorld, type World } from './world.ts';

/** Differs from the default of `serve`, so that a sandbox and a server do not share a file. */
const SANDBOX_DATABASE = 'sqlite:./offerbook-sandbox.db';
const SEED_DEFAULT = 1;
const SEED_MAX = 2 ** 31 - 1;
const SPEED_MAX = 1_000;
/** Currency of the fixed cashbacks in the synthetic catalogue. */
const CURRENCY = 'EUR';
const LOGO_PATH = '/sandbox/logos/';
/** Preferred port of the console. If it is in use, the sandbox chooses a free port. */
const ADMIN_PORT = 8081;
const BEAT_MS = 1_000;

interface SandboxOptions extends NodeFlags {
  readonly fresh?: boolean;
  readonly seed?: number;
  readonly speed: number;
  readonly networks?: boolean;
  readonly networksPort?: number;
}

export function sandboxCommand(): Command {
  return plainCommand(
    'sandbox',
    'run a demo server with synthetic data that keeps changing',
    'offerbook sandbox --fresh --seed 7 --speed 10',
  )
    .addOption(databaseOption(SANDBOX_DATABASE))
    .option('--fresh', 'delete the data of earlier runs and start over')
    .option(
      '--seed <number>',
      `seed of the synthetic data (default: ${SEED_DEFAULT})`,
      parseCount('--seed', 0, SEED_MAX),
    )
    .option('--speed <factor>', 'how much faster sales arrive and change', parseSpeed, 1)
    .option('--port <number>', 'port to listen on; 0 = any free port (default: 8080, env: OFFERBOOK_PORT)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1, env: OFFERBOOK_HOST)')
    .option(
      '--admin-port <number>',
      `port of the console, on this machine only (default: ${ADMIN_PORT} if it is free, env: OFFERBOOK_ADMIN_PORT)`,
    )
    .option('--networks', 'also serve fakes of five affiliate networks, on this machine only')
    .addOption(
      new Option(
        '--networks-port <number>',
        'port of the fakes; 0 = any free port (default: 8082 if it is free)',
      )
        .argParser(parseCount('--networks-port', 0, 65_535))
        .implies({ networks: true }),
    )
    .option('--log-level <level>', 'lowest level to log on stderr', 'warn')
    .action(runSandbox);
}

async function runSandbox(options: SandboxOptions, command: Command): Promise<void> {
  // Registered first, so that Ctrl+C also stops the sandbox cleanly while it generates its data.
  const stopping = stopSignal();
  void stopping.then(() => endWithin(STOP_MAX_MS));
  const { database: databaseUrl, speed } = options;
  const path = sqlitePath(databaseUrl);
  const settings = readServeSettings(options);
  const release = path === undefined ? undefined : lockFile(path);
  try {
    const port = findPort({ host: settings.host, port: settings.port, option: '--port' });
    const adminAddress = { host: '127.0.0.1', option: '--admin-port' } as const;
    const adminPort =
      settings.adminPort ??
      preferPort({ ...adminAddress, port: [0, ADMIN_PORT].includes(settings.port) ? 0 : ADMIN_PORT });
    if (options.fresh === true) await deleteData(path, databaseUrl);
    await using log = closing(openLog(settings.logLevel, toStderr));
    await using stores = await openForWriting({ database: databaseUrl }, CREATE_OPTIONS);
    const seed = chooseSeed(await findSeed(stores), options.seed);
    const baseUrl = settings.publicUrl ?? urlOf(reachableHost(settings.host), port);
    const org = await openOrganisation(stores);
    const tokens = await openTokens(stores, org, seed, systemClock());
    const logoUrl = (id: string) => `${baseUrl}${LOGO_PATH}${id}.svg`;
    const networksPort = options.networksPort ?? (settings.port === 0 ? 0 : undefined);
    const networks =
      options.networks === true ? serveNetworks({ seed, port: networksPort, logoUrl }) : undefined;
    const world = await openWorld(stores, org, { seed, speed, clock: systemClock, logoUrl });
    const { logger } = log;
    await using receiver = closing(await startToyReceiver(stores, org, logger));
    const feed = transactionFeed({
      stores,
      org,
      findRetailer: world.findRetailer,
      clock: systemClock,
      deliveries: receiver.deliveries,
    });
    await linkToToyShop(stores, world.retailers, baseUrl);
    const node = await startNode({
      // Logo URLs always use baseUrl, even if the page was opened under a different host name.
      settings: {
        ...settings,
        port,
        adminPort,
        explorerLogos: [new URL(baseUrl).origin],
        currency: CURRENCY,
        // Developers try links with headless browsers and scripts.
        countTestClients: 'on',
        webhookNetworks: [...settings.webhookNetworks, RECEIVER_ADDRESS],
      },
      databaseUrl,
      logger,
      clock: systemClock,
      extension: {
        routes: [logoRoute(seed, world), feed, ...toyShopRoutes(world)],
        guest: { token: tokens.public, orgId: org.publicId, feedPath: FEED_PATH },
      },
    });
    await print(
      welcomeText({
        baseUrl,
        networksUrl: networks?.url,
        consoleUrl: urlOf(reachableHost(settings.adminHost), adminPort),
        publicToken: tokens.public,
        privateToken: tokens.private,
        orgId: org.publicId,
        retailers: world.retailers,
        seed,
        place: path ?? 'in PostgreSQL',
        startOver: path === undefined ? 'with an empty database' : freshCommand(command, seed),
        nowMs: systemClock(),
      }),
    );
    await beatUntil(stopping, world, logger);
    await networks?.stop();
    await node.stop();
  } finally {
    release?.();
    endWithin(LEFTOVERS_MAX_MS);
  }
}

/** Calls world.beat() every second until `stopping` resolves. Logs only the first of several consecutive failures. */
async function beatUntil(stopping: Promise<void>, world: World, logger: Logger): Promise<void> {
  const stopped = stopping.then(() => true);
  let isFailing = false;
  while (!(await Promise.race([stopped, Bun.sleep(BEAT_MS)]))) {
    try {
      await world.beat();
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        logger.warn({ err: error }, 'the sandbox could not update its data; it retries every second');
      isFailing = true;
    }
  }
}

function logoRoute(seed: number, world: World): Route {
  const headers = {
    'Content-Type': 'image/svg+xml',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'public, max-age=86400',
  };
  return {
    method: 'GET',
    path: `${LOGO_PATH}{file}`,
    openToBrowsers: true,
    async answer({ parameters }) {
      const retailer = world.retailers.find(({ id }) => `${id}.svg` === parameters.file);
      if (retailer === undefined) throw new ApiError('not_found', 'No such logo in this sandbox.');
      return { status: 200, headers: new Headers(headers), isShared: true, body: drawLogo(seed, retailer) };
    },
  };
}

/** The current command line with --fresh and the current seed. */
function freshCommand(command: Command, seed: number): string {
  const given = command.options
    .map((option) => ({ flag: option.long, name: option.attributeName() }))
    .filter(({ name }) => name !== 'fresh' && command.getOptionValueSource(name) === 'cli')
    .map(({ flag, name }) => {
      const value: unknown = command.getOptionValue(name);
      return value === true ? `${flag} ` : `${flag} ${quoted(String(value))} `;
    });
  // The data may have been generated by an earlier run with a different --seed.
  const isKnown = seed === SEED_DEFAULT || command.getOptionValue('seed') !== undefined;
  return `offerbook sandbox ${given.join('')}${isKnown ? '' : `--seed ${seed} `}--fresh`;
}

/** Quotes a word for the shell if necessary. */
function quoted(word: string): string {
  return /^[\w./:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function parseSpeed(text: string): number {
  const speed = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(speed > 0 && speed <= SPEED_MAX)) {
    throw new BadInput(`--speed must be a number greater than 0 and at most ${SPEED_MAX}, not "${text}"`);
  }
  return speed;
}

function chooseSeed(stored: number | undefined, requested: number | undefined): number {
  if (stored !== undefined && requested !== undefined && stored !== requested) {
    throw new BadInput(
      `the sandbox's data was generated with seed ${stored}; add --fresh to start over with seed ${requested}`,
    );
  }
  return stored ?? requested ?? SEED_DEFAULT;
}

async function deleteData(path: string | undefined, databaseUrl: string): Promise<void> {
  if (path === undefined) {
    throw new BadInput(
      '--fresh works with SQLite only; with PostgreSQL, start the sandbox with an empty database',
    );
  }
  if (!existsSync(path)) return;
  {
    await using stores = await openForWriting({ database: databaseUrl }, CREATE_OPTIONS);
    // Throws if the file was not created by a sandbox: such a file must not be deleted.
    await findSeed(stores);
  }
  for (const file of [path, `${path}-walks`, `${path}${CLICK_END}`]) {
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
  }
}

/** The host name at which this machine reaches a server that listens on `host`. */
function reachableHost(host: string): string {
  return ['127.0.0.1', '0.0.0.0', '::1', '::', 'localhost'].includes(host) ? 'localhost' : host;
}
