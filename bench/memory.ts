// Checks that memory does not grow: runs a mixed load for some minutes, changes the catalogue in every round, and records the
// resident memory after each round.
//   npm run bench:memory -- [--minutes 10]

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import { CREATE_OPTIONS, openStores } from '../service/src/storage/open-stores.ts';
import { fillCatalogue } from './fill.ts';
import { makeRetailers, SMALL } from './large-catalogue.ts';
import { runLoad } from './load.ts';
import { bearer, issueTokens, startOfferbook } from './offerbook.ts';
import { percentile } from './percentile.ts';
import { seedTransactions, uuidV4 } from './random-transactions.ts';
import { megabytes, table, whole } from './table.ts';

const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const TRANSACTIONS = 50_000;
const SLICE_S = 4;

const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
const databaseUrl = `sqlite:${join(folder, 'memory.db')}`;
const random = new Random('bench', 'memory');
try {
  await (await openStores(databaseUrl, CREATE_OPTIONS)).close();
  await seedTransactions(databaseUrl, TRANSACTIONS, Date.now(), random);
  const stores = await openStores(databaseUrl);
  const retailers = [...makeRetailers(SMALL, Date.now())];
  await fillCatalogue(stores, retailers);
  const tokens = await issueTokens(stores, (await stores.organisations.list())[0]?.id ?? 0);
  await using server = await startOfferbook(folder, databaseUrl);
  const names = retailers.map(({ name }) => name);
  const loads = {
    public: () =>
      random.pick([
        '/v1/cashback-offers/',
        `/v1/cashback-offers/?cursor=${uuidV4(random)}`,
        `/v1/cashback-offers/?name=${encodeURIComponent(random.pick(names).slice(0, 5))}&limit=${random.whole(1, 300)}`,
        `/v1/retailers/?cursor=${uuidV4(random)}`,
        '/v1/coupons/?limit=oops',
        '/nowhere',
      ]),
    private: () => `/v1/transactions/?cursor=${uuidV4(random)}`,
  };
  const endMs = performance.now() + Number(options.minutes) * 60_000;
  const rounds: { requests: number; bytes: number }[] = [];
  while (performance.now() < endMs) {
    let requests = 0;
    for (const kind of ['public', 'private'] as const) {
      const paths = join(folder, 'paths.txt');
      writeFileSync(paths, Array.from({ length: 5_000 }, loads[kind]).join('\n'));
      const headers = bearer(tokens[kind], {
        'Accept-Encoding': random.pick(['gzip', 'br', 'zstd', 'identity']),
      });
      const load = { url: server.url, headers, file: ['paths', paths] as const };
      requests += (await runLoad(load, SLICE_S)).requestsPerS * SLICE_S;
    }
    const changed = random.pick(retailers);
    await fillCatalogue(stores, [{ ...changed, hostname: `changed-${rounds.length}.example` }]);
    rounds.push({ requests, bytes: (await server.memoryBytes()).now });
  }
  await stores.close();
  // The first 25 % of the rounds warm up the server.
  const settled = rounds.slice(Math.floor(rounds.length / 4));
  const middle = Math.floor(settled.length / 2);
  const median = (some: typeof rounds) =>
    percentile(
      some.map(({ bytes }) => bytes),
      0.5,
    );
  const [earlier, later] = [median(settled.slice(0, middle)), median(settled.slice(middle))];
  const rows = rounds.map(({ requests, bytes }, index) => [
    String(index + 1),
    whole(requests),
    megabytes(bytes),
  ]);
  process.stdout.write(`${table(['round', 'requests', 'memory after the round'], rows)}\n\n`);
  process.stdout.write(
    `After warming up: ${megabytes(earlier)} in the first half, ${megabytes(later)} in the second.\n`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
