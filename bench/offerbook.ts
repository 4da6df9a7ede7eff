// Starts Offerbook as in production, with its log on. Rate limits are counted, but too high to reject a request.

import { join } from 'node:path';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { digestToken, newTokenText } from '../service/src/domain/access-token.ts';
import type { Stores } from '../service/src/domain/stores.ts';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { fillCatalogue } from './fill.ts';
import { type CatalogueSize, makeRetailers } from './large-catalogue.ts';
import { startServer } from './server.ts';

const NO_LIMIT = '1000000000';
export const BOTH_CORES = '0,1';
export const GZIP = { 'Accept-Encoding': 'gzip' };

interface StartOptions {
  readonly args?: readonly string[];
  readonly cores?: string;
  readonly env?: Record<string, string>;
}

export function startOfferbook(
  folder: string,
  databaseUrl: string,
  { args = [], ...options }: StartOptions = {},
) {
  return startServer({
    command: (port) => [
      ...[COMMAND, 'serve', '--port', String(port), '--database', databaseUrl],
      ...['--rate-limit-public', NO_LIMIT, '--rate-limit-private', NO_LIMIT, ...args],
    ],
    readyPath: '/readyz',
    log: join(folder, 'offerbook.log'),
    ...options,
  });
}

/** Creates an SQLite database with a catalogue and an organisation. */
export async function prepareCatalogue(folder: string, size: CatalogueSize) {
  const databaseUrl = `sqlite:${join(folder, 'catalogue.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  const retailers: Retailer[] = [...makeRetailers(size, Date.now())];
  const serialisedBytes = await fillCatalogue(stores, retailers);
  const org = await stores.organisations.create('bench');
  if (org === undefined) throw new Error('the database is not new');
  const tokens = await issueTokens(stores, org.id);
  await stores.close();
  return { databaseUrl, retailers, serialisedBytes, org, token: tokens.public };
}

export async function issueTokens(stores: Stores, orgId: number) {
  const tokens = { public: newTokenText('public'), private: newTokenText('private') };
  for (const kind of ['public', 'private'] as const) {
    const digest = digestToken(tokens[kind]);
    await stores.tokens.add({ orgId, kind, label: 'bench', digest, expiresAtMs: null });
  }
  return tokens;
}

export function bearer(token: string, more: Record<string, string> = {}): Record<string, string> {
  return { Authorization: `Bearer ${token}`, ...more };
}
