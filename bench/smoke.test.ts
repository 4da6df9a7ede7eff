// A quick regression test: a catalogue page must not become much slower than a bare Bun server that sends the same bytes. The
// bound is low, so that the test also passes on a busy machine. `npm run bench` measures precisely.

import { afterAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { temporaryFolder } from '../service/test/support/databases.ts';
import { fillCatalogue } from './fill.ts';
import { makeRetailers, SMALL } from './large-catalogue.ts';
import { bearer, issueTokens, startOfferbook } from './offerbook.ts';
import { startBare } from './peers.ts';
import { measurePipelined } from './pipelined.ts';

const RATIO_MIN = 0.15;
const ROUNDS = 4;
const ROUND_MS = 300;

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true }));

test('serving a catalogue page is not much slower than serving the same bytes from a bare server', async () => {
  const databaseUrl = `sqlite:${join(folder, 'smoke.db')}`;
  const stores = await openStores(databaseUrl, CREATE_OPTIONS);
  await fillCatalogue(stores, makeRetailers(SMALL, Date.now()));
  const org = await stores.organisations.create('smoke');
  const token = (await issueTokens(stores, org?.id ?? 0)).public;
  await stores.close();
  // Without rate limits, the responses have no headers that change between requests.
  await using ours = await startOfferbook(folder, databaseUrl, { args: ['--rate-limit-public', '0'] });
  const url = `${ours.url}/v1/cashback-offers/`;
  const headers = bearer(token, { 'Accept-Encoding': 'gzip', 'Request-Id': 'smoke' });
  const bodyPath = join(folder, 'body.gz');
  const response = await fetch(url, { headers, decompress: false });
  writeFileSync(bodyPath, new Uint8Array(await response.arrayBuffer()));
  await using bare = await startBare(folder, 'body', bodyPath);

  const best = [0, 0];
  // Alternate and use the best of each, so that other load on the machine affects both equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, each] of [url, `${bare.url}/`].entries()) {
      best[index] = Math.max(best[index] ?? 0, await measurePipelined(each, headers, ROUND_MS));
    }
  }
  const [oursPerS = 0, barePerS = 1] = best;
  process.stdout.write(
    `catalogue page: ${Math.round(oursPerS)}/s, bare server: ${Math.round(barePerS)}/s, ratio ${(oursPerS / barePerS).toFixed(2)}\n`,
  );
  expect(oursPerS / barePerS).toBeGreaterThan(RATIO_MIN);
});
