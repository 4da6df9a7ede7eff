// The regression gate. Measures the speed of the most frequent requests relative to bare servers that send the same bytes, in
// about two minutes, and fails if a ratio is more than 15 % below the recorded one. Ratios differ between architectures, so
// each has its own record. The result is the median of five rounds, because a machine's speed varies.
//   npm run bench:smoke -- [--record]

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { openStores } from '../service/src/storage/open-stores.ts';
import { fillCatalogue } from './fill.ts';
import { withFolder } from './folder.ts';
import { makeRetailers, partOf } from './large-catalogue.ts';
import { compare, type Load, pathsFile } from './load.ts';
import { bearer, GZIP, issueTokens, startOfferbook } from './offerbook.ts';
import { startBare } from './peers.ts';
import { END_MS, organisationName, seedTransactions, uuidV4 } from './random-transactions.ts';
import { ratio, table } from './table.ts';

const SIZE = { retailers: 3_000, offers: 30_000, coupons: 1_000, promotions: 1_000 };
const TRANSACTIONS = 100_000;
const ROUNDS = 5;
const LOSS_MAX = 0.15;
const RECORD = join(import.meta.dir, 'recorded-ratios.json');

const OFFERS = '/v1/cashback-offers/';
const TRANSACTION_LIST = '/v1/transactions/';

const { values: options } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const ratios = await withFolder(measureRatios);
const recorded: Record<string, Record<string, number>> = await Bun.file(RECORD).json();
const before = recorded[process.arch] ?? {};
const isSlower = (name: string) => (ratios[name] ?? 0) < (before[name] ?? 0) * (1 - LOSS_MAX);
const rows = Object.entries(ratios).map(([name, now]) => [
  ...[name, ratio(now), name in before ? ratio(before[name] ?? Number.NaN) : 'none'],
  isSlower(name) ? 'slower' : '',
]);
process.stdout.write(
  `${table(['requests per second, relative to a bare server', 'now', 'recorded', ''], rows)}\n`,
);
if (options.record) {
  const rounded = Object.entries(ratios).map(([name, now]) => [name, Math.round(now * 1000) / 1000]);
  const all = { ...recorded, [process.arch]: Object.fromEntries(rounded) };
  writeFileSync(RECORD, `${JSON.stringify(all, null, 2)}\n`);
} else if (Object.keys(ratios).some(isSlower)) {
  process.stderr.write(
    'A ratio is more than 15 % below the recorded one. On a busy machine, run this again.\n',
  );
  process.exitCode = 1;
}

async function measureRatios(folder: string): Promise<Record<string, number>> {
  const path = join(folder, 'smoke.db');
  const { publicToken, privateToken, names } = await fill(`sqlite:${path}`);
  await using ours = await startOfferbook(folder, `sqlite:${path}`);
  const offersUrl = `${ours.url}${OFFERS}`;
  const headers = bearer(publicToken, GZIP);
  const page = await fetch(offersUrl, { headers, decompress: false });
  const bodyPath = join(folder, 'body.gz');
  writeFileSync(bodyPath, new Uint8Array(await page.arrayBuffer()));
  const tag = page.headers.get('ETag') ?? '';
  await using bareBody = await startBare(folder, 'body', bodyPath);
  await using bareUnchanged = await startBare(folder, 'unchanged', tag);
  await using bareTransactions = await startBare(folder, 'transactions', path);

  const random = new Random('smoke');
  const searches = pathsFile(folder, 'searches', () => {
    const name = partOf(random.pick(names), random);
    return `${OFFERS}?${new URLSearchParams({ name, country: 'DE' })}`;
  });
  const cursors = pathsFile(folder, 'cursors', () => `${TRANSACTION_LIST}?cursor=${uuidV4(random)}`);
  const poll = `${TRANSACTION_LIST}?updatedAtGreaterThan=${printTimestamp(END_MS + 1)}`;
  const asServer = bearer(privateToken);
  const unchanged = { ...headers, 'If-None-Match': tag };
  const loads = {
    page: { url: offersUrl, headers },
    barePage: { url: `${bareBody.url}/`, headers },
    unchanged: { url: offersUrl, headers: unchanged },
    bareUnchanged: { url: `${bareUnchanged.url}/`, headers: unchanged },
    search: { url: ours.url, headers: bearer(publicToken), paths: searches },
    transactions: { url: ours.url, headers: asServer, paths: cursors },
    bareTransactions: { url: bareTransactions.url, headers: asServer, paths: cursors },
    poll: { url: `${ours.url}${poll}`, headers: asServer },
  } satisfies Record<string, Load>;
  const print = (speeds: string) => process.stderr.write(`${speeds}\n\n`);
  const measured = await compare('requests', loads, { seconds: 1, repeats: ROUNDS, print });
  return {
    'cached page of offers': measured.page.timesAsFastAs(measured.barePage),
    'unchanged page of offers (304)': measured.unchanged.timesAsFastAs(measured.bareUnchanged),
    'search by part of a name and country, relative to a cached page': measured.search.timesAsFastAs(
      measured.barePage,
    ),
    'page of transactions, SQLite': measured.transactions.timesAsFastAs(measured.bareTransactions),
    'poll without changes, SQLite, relative to a 304': measured.poll.timesAsFastAs(measured.bareUnchanged),
  };
}

async function fill(databaseUrl: string) {
  await seedTransactions(databaseUrl, TRANSACTIONS, new Random('smoke', 'transactions'));
  const stores = await openStores(databaseUrl);
  const retailers = [...makeRetailers(SIZE, Date.now())];
  await fillCatalogue(stores, retailers);
  const org = await stores.organisations.find(organisationName(0));
  const tokens = await issueTokens(stores, org?.id ?? 0);
  await stores.close();
  return {
    publicToken: tokens.public,
    privateToken: tokens.private,
    names: retailers.map(({ name }) => name),
  };
}
