// Starts the servers that Offerbook is compared with. Their packages are not dependencies of the project: the first benchmark
// that needs them installs them into bench/peers.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import postgres from 'postgres';
import { newPostgresDatabase } from '../service/test/support/postgres-server.ts';
import { Server } from './server.ts';

const FOLDER = join(import.meta.dir, 'peers');
const BUN = process.execPath;

export async function installPeers(): Promise<void> {
  if (existsSync(join(FOLDER, 'node_modules', 'hono'))) return;
  process.stderr.write('Installing the peers into bench/peers …\n');
  const install = Bun.spawn(['npm', 'ci', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    stdout: 'ignore',
    stderr: 'ignore',
  });
  if ((await install.exited) !== 0) throw new Error('npm ci in bench/peers failed');
}

export function startPlain(
  folder: string,
  database: string,
  token: string,
  options: { readonly cores?: string } = {},
): Promise<Server> {
  return Server.start({
    ...options,
    command: (port) => [BUN, join(FOLDER, 'plain.ts'), database, String(port)],
    readyPath: '/v1/cashback-offers/',
    headers: { Authorization: `Bearer ${token}` },
    log: join(folder, 'plain.log'),
  });
}

export function startBare(
  folder: string,
  what: 'body' | 'unchanged' | 'texts' | 'transactions' | 'redirect',
  path: string,
): Promise<Server> {
  return Server.start({
    command: (port) => [BUN, join(FOLDER, 'bare.ts'), what, path, String(port)],
    readyPath: '/?cursor=0',
    log: join(folder, 'bare.log'),
  });
}

export const JSON_SERVER_PATH = '/cashbackOffers?_page=1&_limit=100';

/** Runs on Node, which it was written for. */
export function startJsonServer(folder: string, retailers: readonly Retailer[]): Promise<Server> {
  const file = join(folder, 'json-server.json');
  writeFileSync(file, JSON.stringify({ cashbackOffers: retailers.flatMap(listedOffers) }));
  return Server.start({
    command: (port) => [
      ...['node', join(FOLDER, 'node_modules/json-server/lib/cli/bin.js'), file, '--host', '127.0.0.1'],
      ...['--port', String(port), '--quiet'],
    ],
    readyPath: JSON_SERVER_PATH,
    log: join(folder, 'json-server.log'),
  });
}

export const POSTGRAPHILE_QUERY =
  `{allCashbackOffers(first:100,orderBy:[PRIMARY_KEY_ASC]){pageInfo{endCursor} nodes{
  rowId featured countries cashbackPercentage maximumFixedCommissionFee description category termsAndExclusions
  retailerByRetailerId{rowId logo url name}}}}`.replaceAll(/\s+/g, ' ');

/** Runs on Bun, because this version does not support the project's minimum Node version. */
export async function startPostgraphile(folder: string, retailers: readonly Retailer[]): Promise<Server> {
  const url = await newPostgresDatabase();
  await fillPostgres(url, retailers);
  return Server.start({
    command: (port) => [
      ...[BUN, join(FOLDER, 'node_modules/postgraphile/dist/cli-run.js'), '--connection', url],
      ...['--schema', 'public', '--host', '127.0.0.1', '--port', String(port)],
      ...['--preset', 'postgraphile/presets/amber', '--watch=false'],
    ],
    cwd: FOLDER,
    env: { GRAPHILE_ENV: 'production' },
    readyPath: '/graphql',
    log: join(folder, 'postgraphile.log'),
  });
}

async function fillPostgres(url: string, retailers: readonly Retailer[]): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`
    CREATE TABLE retailers (id uuid PRIMARY KEY, name text NOT NULL, url text NOT NULL, logo text NOT NULL);
    CREATE TABLE cashback_offers (
      id uuid PRIMARY KEY, retailer_id uuid NOT NULL REFERENCES retailers (id), featured boolean NOT NULL,
      countries text[] NOT NULL, cashback_percentage float8 NOT NULL, maximum_fixed_commission_fee float8,
      description text NOT NULL, category text NOT NULL, terms_and_exclusions text NOT NULL);
    CREATE INDEX ON cashback_offers (retailer_id);`);
  for (const { id: retailer_id, name, url, logo, cashbackOffers } of retailers) {
    await sql`INSERT INTO retailers ${sql({ id: retailer_id, name, url, logo })}`;
    const rows = cashbackOffers.map((offer) => ({
      ...{ id: offer.id, retailer_id, featured: offer.featured, countries: offer.countries },
      cashback_percentage: offer.cashbackPercentage,
      maximum_fixed_commission_fee: offer.maximumFixedCommissionFee,
      ...{ description: offer.description, category: offer.category },
      terms_and_exclusions: offer.termsAndExclusions,
    }));
    if (rows.length > 0) await sql`INSERT INTO cashback_offers ${sql(rows)}`;
  }
  await sql.unsafe('ANALYZE');
  await sql.end();
}

export function listedOffers({ id: retailerId, logo, url, name, cashbackOffers }: Retailer) {
  return cashbackOffers.map((offer) => ({ ...offer, retailerId, logo, url, name }));
}
