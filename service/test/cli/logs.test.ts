// The import log, the history of transactions and the audit log on the command line.

import { beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import manifest from '../../package.json';
import { currentUser } from '../../src/cli/current-user.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { COMMAND, commandLine, rejected } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { coupon, id, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?$/);
const NO_COUNTS = { read: 0, added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0, invalid: 0 };

// What the commands print does not depend on the database; storage/logs.test.ts runs on every database.
const [database] = DATABASES;
let url: string;
let folder: string;

beforeEach(async () => {
  url = (await database?.create()) ?? '';
  folder = temporaryFolder();
  expect((await run('orgs create acme')).code).toBe(0);
});

const { run, json } = commandLine(() => ({ cwd: folder, env: { OFFERBOOK_DATABASE_URL: url } }));
const importSales = (rows: readonly unknown[], ...more: string[]) =>
  run(['import', 'transactions', '-', '--org', 'acme', ...more], { stdin: ndjson(rows) });

/** An entry as --json shows it. */
const entry = (number: number, changes: Record<string, unknown>) => ({
  id: number,
  kind: 'transactions',
  org: 'acme',
  by: currentUser(),
  source: null,
  fileName: 'standard input',
  fileDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
  version: manifest.version,
  beganAt: MOMENT,
  endedAt: MOMENT,
  seconds: expect.any(Number),
  outcome: 'done',
  reason: null,
  counts: NO_COUNTS,
  problems: [],
  problemCount: 0,
  ...changes,
});

test('the import log lists the user, source, file, digest and row counts of each import, newest first', async () => {
  expect((await run('imports list')).stdout).toBe('No imports.\n');
  const file = ndjson([transaction(1), transaction(2)]);
  await Bun.write(join(folder, 'sales.ndjson'), file);
  const names = ['--by', 'nightly job', '--source', 'awin'];
  await run(['import', 'transactions', 'sales.ndjson', '--org', 'acme', ...names]);
  await run('import catalogue -', { stdin: ndjson([retailer(1)]) });

  const sales = entry(1, {
    by: 'nightly job',
    source: 'awin',
    fileName: 'sales.ndjson',
    fileDigest: Bun.SHA256.hash(file, 'hex'),
    counts: { ...NO_COUNTS, read: 2, added: 2 },
  });
  const catalogue = entry(2, { kind: 'catalogue', org: null, counts: { ...NO_COUNTS, read: 1, added: 1 } });
  expect(await json('imports list')).toEqual([catalogue, sales]);
  expect(await json('imports list --limit 1')).toEqual([catalogue]);
  expect(await json('imports list --org acme')).toEqual([sales]);
  expect(await json('imports list --kind catalogue')).toEqual([catalogue]);
  expect(await json('imports show 1')).toEqual(sales);

  const [header, ...rows] = (await run('imports list')).stdout.trimEnd().split('\n');
  expect(header?.split(/ {2,}/)).toEqual(
    'ID BEGAN KIND ORG OUTCOME ROWS CHANGES BY FILE'.split(' ') as unknown as string[],
  );
  expect(rows.map((row) => row.split(/ {2,}/).slice(2))).toEqual([
    ['catalogue', 'done', '1', '+1', currentUser(), 'standard input'],
    ['transactions', 'acme', 'done', '2', '+2', 'nightly job', 'sales.ndjson'],
  ]);
  expect((await run('imports show 1')).stdout.split('\n')).toEqual([
    'import   1, transactions of "acme"',
    'outcome  done',
    expect.stringMatching(/^began {4}2/),
    expect.stringMatching(/^ended {4}2.* \(\d+(\.\d+)? s\)$/),
    'by       nightly job',
    'source   awin',
    'file     sales.ndjson',
    `SHA-256  ${Bun.SHA256.hash(file, 'hex')}`,
    `version  ${manifest.version}`,
    'rows     2 read, 2 added, 0 changed, 0 unchanged, 0 stale, 0 withdrawn, 0 invalid',
    '',
  ]);
});

test('the import log contains rejected imports with their reasons and first problems', async () => {
  await importSales([transaction(1), { ...transaction(2), status: 'LOST' }, { ...transaction(3), id: 'x' }]);
  await run('import catalogue -', { stdin: ndjson([1, 2, 3].map((n) => retailer(n))) });
  expect((await run('import catalogue -', { stdin: ndjson([retailer(1)]) })).code).toBe(3);
  const [guarded, , bad] = await json('imports list');
  expect(bad).toEqual(
    entry(1, {
      outcome: 'refused',
      reason: '2 of 3 rows are invalid',
      counts: { ...NO_COUNTS, read: 3, invalid: 2 },
      problems: [
        { line: 2, field: 'status', reason: expect.any(String) },
        { line: 3, field: 'id', reason: expect.any(String) },
      ],
      problemCount: 2,
    }),
  );
  expect(guarded).toMatchObject({ id: 3, outcome: 'refused', counts: NO_COUNTS });
  expect(guarded.reason).toStartWith('this file would withdraw 2 of 3 retailers, more than 50 %');
  expect((await run('imports show 1')).stdout).toContain('\noutcome  refused: 2 of 3 rows are invalid\n');
  expect((await run('imports show 1')).stdout).toContain(`\nline 2: status ${bad.problems[0].reason}\n`);
});

test('a pipe whose conversion fails exits with code 2, and the import log records no success', async () => {
  const awin = join(import.meta.dir, '../../../examples/data/awin');
  const sales = await Bun.file(join(awin, 'transactions.json')).text();
  await Bun.write(join(folder, 'cut.json'), sales.slice(0, sales.length / 2));
  const convert = `convert transactions --from awin --source ${awin}/source.json cut.json`;
  const pipe = (options = '') => {
    const script = `"$0" ${convert} | "$0" import transactions - --org acme ${options}`;
    return run([], { command: ['/bin/sh', '-c', script, COMMAND] });
  };
  const broken = await pipe();
  expect([broken.code, broken.stdout]).toEqual([2, '']);
  const reason = 'standard input has no rows; nothing was imported. If it may be empty, add --allow-empty';
  expect(broken.stderr).toEndWith(`offerbook: ${reason}\n`);
  const refused = entry(1, { outcome: 'refused', reason });
  expect(await json('imports list')).toEqual([refused]);
  expect((await pipe('--allow-empty')).code).toBe(0);
  expect(await json('imports list')).toEqual([entry(2, {}), refused]);
});

test('a dry run is not recorded in the import log', async () => {
  expect((await importSales([transaction(1)], '--dry-run')).code).toBe(0);
  expect(await json('imports list')).toEqual([]);
});

test('an import that was killed is shown as unfinished, without an end', async () => {
  await using stores = closing(await openStores(url));
  const [org] = await stores.organisations.list();
  const origin = { kind: 'transactions', by: 'cron', source: null, fileName: 'x', version: '1' } as const;
  await stores.imports.begin({ ...origin, orgId: org?.id ?? 0 });
  expect((await importSales([transaction(2)])).code).toBe(0);
  const unfinished = { outcome: 'unfinished', endedAt: null, seconds: null, fileDigest: null };
  expect(await json('imports show 1')).toEqual(
    entry(1, { ...unfinished, by: 'cron', fileName: 'x', version: '1' }),
  );
  expect((await run('imports show 1')).stdout).toContain('\nended    unknown\n');
});

test('transactions show prints the current version and all earlier versions, each with its import', async () => {
  await importSales([transaction(1), transaction(2)], '--by', 'first');
  await importSales([transaction(1, { status: 'CONFIRMED' })], '--by', 'second');
  await importSales([transaction(1, { status: 'CONFIRMED', cashback: 1e-7 })], '--by', 'third');
  const { versions, ...rest } = await json(`transactions show ${id(1)}`);
  expect(rest).toEqual({ id: id(1), org: 'acme' });
  const [third, second, first] = versions;
  const version = (number: number, by: string, changes: Parameters<typeof transaction>[1]) => ({
    from: MOMENT,
    until: MOMENT,
    import: number,
    file: 'standard input',
    by,
    transaction: { ...transaction(1, changes), updatedAt: MOMENT },
  });
  expect(versions).toEqual([
    { ...version(3, 'third', { status: 'CONFIRMED', cashback: 1e-7 }), until: null },
    version(2, 'second', { status: 'CONFIRMED' }),
    version(1, 'first', {}),
  ]);
  expect([third.from, second.from]).toEqual([second.until, first.until]);
  expect(versions.map((each: { transaction: { updatedAt: string } }) => each.transaction.updatedAt)).toEqual(
    versions.map((each: { from: string }) => each.from),
  );

  const { stdout } = await run(`transactions show ${id(1).toUpperCase()}`);
  expect(stdout.split('\n')[0]).toBe(`Transaction ${id(1)} of "acme", 3 versions:`);
  expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toEqual(third.transaction);
  // No number has an exponent, neither in the table nor below it.
  expect(stdout).toContain('  0.0000001 EUR  ');
  expect(stdout).toContain('\n  "cashback": 0.0000001,\n');
  expect((await run(`transactions show ${id(2)}`)).stdout).toStartWith(
    `Transaction ${id(2)} of "acme", never changed:\n`,
  );
});

test('totals are exact to the last digit in every currency', async () => {
  const sale = (number: number, currencyCode: string, orderValue: number, cashback: number) =>
    transaction(number, { currencyCode, orderValue, cashback });
  await importSales([
    sale(1, 'BTC', 0.00001234, 1e-8),
    sale(2, 'KWD', 1.235, 0),
    sale(3, 'USD', 999_999_999_999_999, 1),
    sale(4, 'USD', 0.01, 1),
  ]);
  const { stdout } = await run('transactions totals');
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['ORG', 'CURRENCY', 'MONTH', 'STATUS', 'COUNT', 'ORDERS', 'CASHBACK'],
    ['acme', 'BTC', '2026-11', 'PENDING', '1', '0.00001234', '0.00000001'],
    ['acme', 'KWD', '2026-11', 'PENDING', '1', '1.235', '0.00'],
    ['acme', 'USD', '2026-11', 'PENDING', '2', '999999999999999.01', '2.00'],
    [''],
  ]);
  const { stdout: printed } = await run('transactions totals --json');
  expect(printed).toContain('"status":"PENDING","count":2,"orderValue":999999999999999.01,"cashback":2}');
});

test('totals --verify exits 1 and prints totals that differ from a full count, and --rebuild repairs them', async () => {
  await importSales([transaction(1), transaction(2)]);
  const right = await run('transactions totals --verify');
  expect(right).toMatchObject({
    code: 0,
    stdout: 'The stored totals equal a count of all 2 transactions.\n',
  });
  await using database = closing(openDatabase(url, COMMAND_OPTIONS));
  await database.all('UPDATE daily_totals SET count = 3');
  const wrong = await run('transactions totals --verify');
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(/^acme +2026-11-14 +EUR +PENDING +3, 159\.8, 7\.98 +2, 159\.8, 7\.98$/m);
  expect((await run('transactions totals --rebuild')).stdout).toBe(
    'Rebuilt the totals from 2 transactions.\n',
  );
  expect(await json('transactions totals --verify')).toEqual({ transactions: 2, differences: [] });
});

test('totals --by-retailer counts transactions for the retailer of their offer, coupon or promotion', async () => {
  const deals = { cashbackOffers: [offer(11)], coupons: [coupon(21)], promotions: [promotion(31)] };
  await run('import catalogue -', { stdin: ndjson([retailer(1, { name: 'Garden', ...deals })]) });
  await importSales([
    transaction(1, { cashbackOfferId: id(11) }),
    transaction(2, { couponId: id(21), status: 'DECLINED' }),
    transaction(3, { promotionId: id(31) }),
    transaction(4, { couponId: id(99) }),
    transaction(5),
  ]);
  const { stdout } = await run('transactions totals --by-retailer');
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['ORG', 'RETAILER', 'PENDING', 'CONFIRMED', 'DECLINED'],
    ['acme', 'Garden', '2', '0', '1'],
    ['acme', 'deal no longer in the catalogue', '1', '0', '0'],
    ['acme', 'no deal named', '1', '0', '0'],
    [''],
  ]);
});

test("transactions find returns a user's transactions by passbackUid, in one or all organisations", async () => {
  await importSales([transaction(1), transaction(2)]);
  await run('orgs create other');
  const theirSale = { passbackUid: 'user-1', status: 'DECLINED' } as const;
  await run('import transactions - --org other', { stdin: ndjson([transaction(3, theirSale)]) });
  const [theirs, ours] = await json('transactions find --passback-uid user-1');
  expect([theirs, ours]).toEqual([
    { org: 'other', transaction: { ...transaction(3, theirSale), updatedAt: MOMENT } },
    { org: 'acme', transaction: { ...transaction(1), updatedAt: MOMENT } },
  ]);
  expect(await json('transactions find --passback-uid user-1 --org acme')).toEqual([ours]);
  const { stdout } = await run('transactions find --passback-uid user-1 --org other');
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['ID', 'ORG', 'STATUS', 'ORDER', 'CASHBACK', 'SOLD', 'UPDATED'],
    [
      ...[id(3), 'other', 'DECLINED', '79.9 EUR', '3.99 EUR', '2026-11-14T12:00:00'],
      theirs.transaction.updatedAt,
    ],
    [''],
  ]);
  expect((await run('transactions find --passback-uid user')).stdout).toBe('No transactions.\n');
});

test('the audit log records who created, issued, rotated, revoked and purged what, and never contains a token', async () => {
  const issued = await json('tokens issue --org acme --kind private --label nightly --expires 90d');
  const successor = await json(`tokens rotate ${issued.id} --overlap 1h`);
  const revoked = await json(`tokens revoke ${successor.id}`);
  await run('orgs create other');
  const purged = await json('purge --older-than 2d');
  const audited = (action: string, org: string | null, details: Record<string, unknown>) => ({
    id: expect.any(Number),
    at: MOMENT,
    by: currentUser(),
    action,
    org,
    details,
  });
  const token = { kind: 'private', label: 'nightly' };
  const ofAcme = [
    audited('token revoked', 'acme', { ...token, id: successor.id, endsAt: revoked.revokedAt }),
    audited('token rotated', 'acme', {
      ...token,
      id: issued.id,
      endsAt: successor.replacedEndsAt,
      successor: successor.id,
    }),
    audited('token issued', 'acme', { ...token, id: issued.id, endsAt: issued.expiresAt }),
    audited('organisation created', 'acme', {}),
  ];
  expect(await json('audit')).toEqual([
    audited('history purged', null, { versions: 0, replacedBefore: purged.replacedBefore }),
    audited('organisation created', 'other', {}),
    ...ofAcme,
  ]);
  expect(await json('audit --org acme')).toEqual(ofAcme);
  expect(await json('audit --org acme --limit 1')).toEqual(ofAcme.slice(0, 1));
  expect(await json('audit --org nobody')).toEqual([]);
  const { stdout } = await run('audit --org acme');
  expect(stdout).toContain(`token issued          acme  id=${issued.id} kind=private label=nightly endsAt=`);
  for (const text of [stdout, JSON.stringify(await json('audit'))]) expect(text).not.toMatch(/ob_(pub|prv)_/);
});

test('control sequences in names are not printed to the terminal', async () => {
  const fileName = 'a\u001b[2J\u009b1m\u202eb.ndjson';
  await Bun.write(join(folder, fileName), ndjson([transaction(1, { passbackData: '\u009b31m' })]));
  expect(
    (await run(['import', 'transactions', fileName, '--org', 'acme', '--by', '\u202emallory'])).code,
  ).toBe(0);
  await importSales([transaction(1, { status: 'CONFIRMED', passbackData: '\u009b31m' })]);
  for (const args of ['imports list', 'imports show 1', `transactions show ${id(1)}`]) {
    const { code, stdout } = await run(args);
    const obeyed = stdout.match(/[\p{Cc}\p{Bidi_Control}]/gu)?.filter((it) => it !== '\n');
    expect({ code, obeyed }).toEqual({ code: 0, obeyed: [] });
  }
  expect((await run('imports show 1')).stdout).toContain('\nfile     a?[2J?1m?b.ndjson\n');
  // JSON output contains the name unchanged.
  expect((await json('imports show 1')).fileName).toBe(fileName);
});

const bad: [string | readonly string[], string][] = [
  ['imports show 7', 'there is no import 7; list them with: offerbook imports list'],
  ['imports show -1', '<id> must be a whole number from 1 to'],
  ['imports show 1e3', '<id> must be a whole number from 1 to 1000000000, not "1e3"'],
  [`imports show ${'9'.repeat(30)}`, '<id> must be a whole number from 1 to'],
  ['imports list --limit 0', '--limit must be a whole number from 1 to 1000000000, not "0"'],
  [
    'imports list --kind sales',
    "option '--kind <kind>' argument 'sales' is invalid. Allowed choices are catalogue, links, transactions.",
  ],
  ['imports list --org nobody', 'there is no organisation "nobody"; list them with: offerbook orgs list'],
  [`transactions show ${id(9)}`, `there is no transaction ${id(9)}`],
  [['transactions', 'show', "x' OR 1=1"], '<id> must be a UUID, not "x\' OR 1=1"'],
  ['transactions find --passback-uid ', '--passback-uid must not be empty'],
  ['transactions find --passback-uid x --org nobody', 'there is no organisation "nobody"'],
  ['audit --limit all', '--limit must be a whole number from 1 to 1000000000, not "all"'],
  ['purge', 'missing --older-than <duration>'],
  ['purge --older-than 23h', '--older-than must be at least 1d'],
  ['purge --older-than -1d', '--older-than must be a duration such as'],
  ['purge --older-than 999999999d', '--older-than must be a duration such as'],
];
test('log commands reject invalid usage with one sentence and change nothing', async () => {
  const logs = async () => [await json('imports list'), await json('audit')];
  const before = await logs();
  for (const [args, message] of bad) {
    const stderr = expect.stringContaining(message);
    expect({ args, ...(await run(args)) }).toEqual({ args, code: 2, stdout: '', stderr });
  }
  for (const option of ['--by', '--source']) {
    for (const name of ['', ' ', 'x'.repeat(201), 'a\nb', '\u001b[2J', '\u009b2J']) {
      const args = ['import', 'transactions', '-', '--org', 'acme', option, name];
      expect(await run(args, { stdin: ndjson([transaction(1)]) })).toEqual(
        rejected(`${option} must be 1–200 characters, without control characters`),
      );
    }
  }
  expect(await logs()).toEqual(before);
});
