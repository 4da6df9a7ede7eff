// The command line: every command as a process, on a real database file.

import { beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import manifest from '../../package.json';
import { loadProgram } from '../../src/cli/run.ts';
import { newTokenText } from '../../src/domain/access-token.ts';
import { commandLine, printed, type RunOptions, rejected } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { coupon, id, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const { run, json } = commandLine(() => ({ cwd: folder }));

describe('organisations and tokens', () => {
  test('a token can be issued, verified, rotated with overlap, listed and revoked, but not rotated after that', async () => {
    const { stdout: created } = await run('orgs create acme');
    const [{ publicId }] = await json('orgs list');
    expect(created).toBe(`Created organisation "acme". Its id in activation links is orgId=${publicId}\n`);
    const issued = await json('tokens issue --org acme --kind private --label nightly --expires 90d');
    expect(issued).toEqual({
      id: expect.any(String),
      token: expect.stringMatching(/^ob_prv_[0-9A-Za-z]{36}$/),
      kind: 'private',
      org: 'acme',
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?$/),
    });
    expect((await json('tokens verify', { stdin: `${issued.token}\n` })).id).toBe(issued.id);

    const successor = await json(`tokens rotate ${issued.id} --overlap 24h`);
    expect(successor).toMatchObject({ kind: 'private', org: 'acme', replaces: issued.id });
    const states = async () =>
      (await json('tokens list')).map((token: { id: string; state: string; label: string }) => [
        token.id,
        token.state,
        token.label,
      ]);
    expect(await states()).toEqual([
      [issued.id, 'ending', 'nightly'],
      [successor.id, 'live', 'nightly'],
    ]);
    await json(`tokens revoke ${issued.id}`);
    expect(await states()).toEqual([
      [issued.id, 'revoked', 'nightly'],
      [successor.id, 'live', 'nightly'],
    ]);
    expect(await run('tokens verify', { stdin: issued.token })).toEqual(
      rejected(`the token is revoked (id ${issued.id})`),
    );
    expect(await run(`tokens rotate ${issued.id}`)).toEqual(
      rejected(`token ${issued.id} is revoked; issue a new one instead`),
    );
    expect(await states()).toHaveLength(2);
  });

  test('the end time printed for a token is its expiry or revocation, whichever comes first', async () => {
    await run('orgs create acme');
    const shortLived = await json('tokens issue --org acme --kind public --expires 1h');
    const longLived = await json('tokens issue --org acme --kind public');
    const endOfFirst = (await json(`tokens rotate ${shortLived.id} --overlap 24h`)).replacedEndsAt;
    expect(endOfFirst).toBe(shortLived.expiresAt);
    const first = await json(`tokens rotate ${longLived.id} --overlap 1h`);
    const again = await run(`tokens rotate ${longLived.id} --overlap 24h`);
    expect(again.stderr.split('\n')[1]).toBe(`The old token is valid until ${first.replacedEndsAt}.`);

    const { stdout } = await run('tokens list');
    const [header, ...rows] = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(header).toEqual(['ID', 'ORG', 'KIND', 'STATE', 'LAST USED', 'ENDS', 'LABEL']);
    const ends = rows.map((row) => [row[0], row[3], row[5]]);
    expect(ends).toContainEqual([shortLived.id, 'ending', shortLived.expiresAt]);
    expect(ends).toContainEqual([longLived.id, 'ending', first.replacedEndsAt]);
    expect(ends).toContainEqual([first.id, 'live', 'never']);
  });

  test('without --json, stdout contains only the token, so the output can be piped, and the database file does not contain it', async () => {
    await run('orgs create acme');
    const { stdout, stderr } = await run('tokens issue --org acme --kind private');
    expect(stdout).toMatch(/^ob_prv_[0-9A-Za-z]{36}\n$/);
    expect(stderr).toMatch(
      /^Issued a private token for "acme" \(id [0-9a-f-]{36}\)\. It is printed only once; store it safely\.\n$/,
    );
    const token = stdout.trim();
    const bytes = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('');
    expect(bytes).toContain('acme');
    expect(bytes).not.toContain(token.slice(7, 37));
  });

  const refusals: [string, string][] = [
    [
      'tokens issue --org nobody --kind public',
      'there is no organisation "nobody"; create it with: offerbook orgs create "nobody"',
    ],
    [
      'tokens issue --org acme --kind secret',
      "option '--kind <kind>' argument 'secret' is invalid. Allowed choices are public, private.\n(run with --help for usage)",
    ],
    [
      'tokens issue --org acme --kind public --expires soon',
      '--expires must be a duration such as 90d, 24h, 30m or 45s, at most 100 years, not "soon"',
    ],
    ['tokens issue --org acme --kind public --expires 0d', '--expires must be at least 1s'],
    ['tokens revoke ob_prv_abc', '<id> must be the UUID of a token; list them with: offerbook tokens list'],
    [`tokens revoke ${id(1)}`, `there is no token with the id ${id(1)}`],
    ['orgs create acme', 'the organisation "acme" already exists'],
    [
      // orgs list would print this name as a?b, which is another name.
      'orgs create a\u202eb',
      'an organisation name must be 1–200 characters, without control, line-break or bidirectional characters and without leading or trailing spaces',
    ],
    [
      `orgs create ${id(7).toUpperCase()}`,
      'an organisation name must not look like an id, because the console finds organisations by name and by id',
    ],
    [
      'export transactions --org nobody',
      'there is no organisation "nobody"; list them with: offerbook orgs list',
    ],
    ['import catalogue missing.ndjson', 'missing.ndjson does not exist'],
    ['import transactions missing.csv --org acme', 'missing.csv does not exist'],
    [
      'orgs list --database mysql://user:secret@host/db',
      'the database URL must be sqlite:PATH or postgres://…',
    ],
    [
      'orgs list --database sqlite:/no/such/folder/x.db',
      '/no/such/folder/x.db cannot be opened: the folder /no/such/folder does not exist',
    ],
  ];
  test('each rejected command prints one sentence', async () => {
    await run('orgs create acme');
    for (const [args, sentence] of refusals)
      expect({ args, ...(await run(args)) }).toEqual({ args, ...rejected(sentence) });
  });

  test('a failed command prints its reason and exits with its own code even if closing the database fails', async () => {
    await run('orgs create acme');
    const preload = join(folder, 'no-close.ts');
    const fails = `() => { throw new Error('cannot be closed'); }`;
    await Bun.write(preload, `import { Database } from 'bun:sqlite'; Database.prototype.close = ${fails};`);
    const command = [process.execPath, '--preload', preload, join(import.meta.dir, '../../src/main.ts')];
    expect(await run('export transactions --org nobody', { command })).toEqual(
      rejected('there is no organisation "nobody"; list them with: offerbook orgs list'),
    );
    const { code, stderr } = await run('orgs list', { command });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('cannot be closed') });
  });

  test.each([
    ['frobnicate', "unknown command 'frobnicate'"],
    ['imprt catalogue', "unknown command 'imprt' (did you mean import?)"],
    ['tokens issue', 'missing --org <name>, --kind <kind>'],
    ['tokens issue --org acme', 'missing --kind <kind>'],
    ['convert transactions', 'missing --source <file>, <file>'],
    ['orgs create', "missing required argument 'name'"],
    ['orgs list --frob', "unknown option '--frob'"],
    ['orgs list --jsn', "unknown option '--jsn' (did you mean --json?)"],
    ['orgs create a b', "too many arguments for 'create'. Expected 1 argument but got 2."],
    ['orgs list --database', "option '--database <url>' argument missing"],
  ])('offerbook %s is invalid usage: %s', async (args, message) => {
    expect(await run(args)).toEqual(rejected(`${message}\n(run with --help for usage)`));
  });

  test('--help lists the commands in groups', async () => {
    const { code, stdout } = await run('--help');
    expect(code).toBe(0);
    const headings = [...stdout.matchAll(/^(\S.*:)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Options:', 'Running:', 'Data:', 'Access:', 'Personal data:', 'Tools:']);
    expect(stdout).toContain('\n  doctor [options]            check the installation (read-only);');
  });

  test('every command has an example in --help', async () => {
    const withoutExample = (command: Command, path: string): string[] => {
      if (command.commands.length > 0)
        return command.commands.flatMap((sub) => withoutExample(sub, `${path} ${sub.name()}`));
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      return /\nExamples?:\n {2}\S/.test(help) && help.includes(`\n  ${path}`) ? [] : [path];
    };
    expect(withoutExample(await loadProgram(), 'offerbook')).toEqual([]);
  });
});

describe('if there is no database', () => {
  const rows = ndjson([transaction(1)]);
  const reading: [string, RunOptions][] = [
    ['serve --port 0', {}],
    ['serve --port 0 --workers 2', {}],
    ['orgs list', {}],
    ['tokens list', {}],
    ['tokens issue --org acme --kind public', {}],
    [`tokens revoke ${id(1)}`, {}],
    [`tokens rotate ${id(1)}`, {}],
    ['tokens verify', { stdin: newTokenText('public') }],
    ['export catalogue', {}],
    ['export transactions --org acme', {}],
    ['import transactions - --org acme', { stdin: rows }],
    ['import catalogue - --dry-run', { stdin: ndjson([retailer(1)]) }],
    ['copy --to sqlite:./copy.db', {}],
    ['imports list', {}],
    ['imports show 1', {}],
    [`transactions show ${id(1)}`, {}],
    ['transactions find --passback-uid user-1', {}],
    ['audit', {}],
    ['purge --older-than 400d', {}],
  ];
  test('no command that needs a database creates one, and each prints the path that it tried', async () => {
    const sentence = `there is no Offerbook database at ${join(folder, 'offerbook.db')}; choose another with --database or OFFERBOOK_DATABASE_URL, or create one with: offerbook orgs create NAME`;
    const results = await Promise.all(
      reading.map(async ([args, options]) => ({ args, ...(await run(args, options)) })),
    );
    expect(results).toEqual(reading.map(([args]) => ({ args, ...rejected(sentence) })));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('orgs create, import catalogue and copy create a missing database', async () => {
    expect((await run('orgs create acme')).code).toBe(0);
    const catalogue = ndjson([retailer(1)]);
    const database = '--database sqlite:./other.db';
    expect((await run(`import catalogue - ${database}`, { stdin: catalogue })).code).toBe(0);
    expect((await run(`copy ${database} --to sqlite:./copy.db`)).code).toBe(0);
    expect((await run('export catalogue --database sqlite:./copy.db')).stdout).toBe(catalogue);
  });
});

test('--version prints the package version, and the commit if the program was built', async () => {
  const words = new RegExp(`^${manifest.version}( \\(commit [0-9a-f]{12}(, modified)?\\))?\n$`);
  expect(await run('--version')).toEqual({ code: 0, stdout: expect.stringMatching(words), stderr: '' });
});

test('import --help lists the accepted formats', async () => {
  const formats = async (what: string) =>
    /Arguments: file (.*?);/.exec((await run(`import ${what} --help`)).stdout.replaceAll(/\s+/g, ' '))?.[1];
  expect([await formats('catalogue'), await formats('transactions')]).toEqual([
    'NDJSON or JSON, plain, .gz or .zst',
    'NDJSON, JSON or CSV, plain, .gz or .zst',
  ]);
});

describe('import and export', () => {
  const CATALOGUE = [
    retailer(1, { cashbackOffers: [offer(11)], coupons: [coupon(21)], promotions: [promotion(31)] }),
    retailer(2, { name: 'Ünïcödé "quotes" \u2028 \\ 🎉', cashbackOffers: [offer(12)] }),
  ];

  test('an import adds, changes and withdraws rows, and prints the count of each', async () => {
    const stdin = ndjson(CATALOGUE);
    const first = await json('import catalogue -', { stdin });
    const rest = { unchanged: 0, stale: 0, withdrawn: 0, invalid: 0, aside: 0 };
    expect(first).toEqual({ read: 2, added: 2, changed: 0, ...rest, seconds: expect.any(Number) });
    expect(await json('import catalogue -', { stdin })).toMatchObject({ added: 0, changed: 0, unchanged: 2 });
    const one = ndjson([{ ...CATALOGUE[0], name: 'Other' }]);
    for (const [option, withdrawn] of [['--dry-run', 1] as const, ['--merge', 0] as const])
      expect(await json(`import catalogue - ${option}`, { stdin: one })).toMatchObject({
        changed: 1,
        withdrawn,
      });
    expect((await run('import catalogue -', { stdin: one })).stdout).toMatch(
      /^Imported 1 retailer: 0 added, 0 changed, 1 unchanged, 1 withdrawn \(\d+\.\d s\)\.\n$/,
    );
  });

  test('with invalid rows skipped, the printed counts match the imported rows', async () => {
    await run('orgs create acme');
    const skip = async (what: string, rows: readonly object[]) =>
      (await run(`import ${what} - --skip-invalid`, { stdin: ndjson(rows) })).stdout.replace(
        /\d+\.\d s/,
        'T s',
      );
    expect([
      await skip('catalogue', [{ ...CATALOGUE[0], name: '' }]),
      await skip('catalogue', [...CATALOGUE, {}]),
      await skip('transactions --org acme', [transaction(1), {}, {}]),
      await skip('transactions --org acme', [transaction(1)]),
    ]).toEqual([
      'Imported 0 of 1 retailer: 0 added, 0 changed, 0 unchanged, 0 withdrawn, 1 invalid (T s).\n',
      'Imported 2 of 3 retailers: 2 added, 0 changed, 0 unchanged, 0 withdrawn, 1 invalid (T s).\n',
      'Imported 1 of 3 transactions: 1 added, 0 changed, 0 unchanged, 2 invalid (T s).\n',
      'Imported 1 transaction: 0 added, 0 changed, 1 unchanged (T s).\n',
    ]);
  });

  test('rows older than the stored ones are reported on stderr and counted on stdout and in the import log', async () => {
    await run('orgs create acme');
    const sale = (orderValue: number, sourceUpdatedAt: string) => ({
      ...transaction(1, { orderValue }),
      sourceUpdatedAt,
    });
    const load = 'import transactions - --org acme';
    await run(load, { stdin: ndjson([sale(10, '2026-11-02T00:00:00')]) });
    const stdin = ndjson([sale(9, '2026-11-01T00:00:00'), transaction(2)]);
    const dry = await run(`${load} --dry-run`, { stdin });
    expect(dry.stdout).toMatch(
      /^Dry run, nothing was changed\. Would import 1 of 2 transactions: 1 added, 0 changed, 0 unchanged, 1 older than stored \(/,
    );
    expect(dry.stderr).toBe(
      '1 row with an older sourceUpdatedAt than the stored transaction: not imported.\n',
    );
    const counts = { read: 2, added: 1, changed: 0, unchanged: 0, stale: 1, withdrawn: 0, invalid: 0 };
    const { stdout } = await run(`${load} --json`, { stdin });
    expect(JSON.parse(stdout)).toEqual({ ...counts, aside: 0, seconds: expect.any(Number) });
    expect(await json('imports show 2')).toMatchObject({ counts });
    expect((await run('export transactions --org acme')).stdout).not.toContain('sourceUpdatedAt');
  });

  test('an import with invalid rows exits with code 2, prints every problem with its line, and changes nothing', async () => {
    await json('import catalogue -', { stdin: ndjson(CATALOGUE) });
    const before = await run('export catalogue');
    const bad = `${ndjson([retailer(3)])}{"id":\n${JSON.stringify({ ...retailer(4), url: 'ftp://x' })}\n`;
    const refused = await run('import catalogue -', { stdin: bad });
    expect({ ...refused, stderr: refused.stderr.split('\n') }).toEqual({
      code: 2,
      stdout: '',
      stderr: [
        expect.stringMatching(/^offerbook: line 2: /),
        'offerbook: line 3: url must be a URL that starts with http:// or https://',
        expect.stringMatching(/^offerbook: Nothing was imported: /),
        '',
      ],
    });
    expect(await run('export catalogue')).toEqual(before);

    const { code, stdout, stderr } = await run('import catalogue - --json', { stdin: bad });
    expect({ code, stderr }).toEqual({ code: 2, stderr: refused.stderr });
    const counts = { added: 0, changed: 0, unchanged: 0, stale: 0, withdrawn: 0, aside: 0 };
    const nothing = { ...counts, seconds: expect.any(Number) };
    expect(JSON.parse(stdout)).toEqual({ ...nothing, read: 3, invalid: 2 });
    const broken = await run('import catalogue - --json', { stdin: `[${JSON.stringify(CATALOGUE[0])},{` });
    expect({ ...JSON.parse(broken.stdout), code: broken.code }).toEqual({
      ...nothing,
      read: 2,
      invalid: 1,
      code: 2,
    });
  });

  test('importing an exported file changes nothing', async () => {
    await run('orgs create acme');
    await json('import catalogue -', { stdin: ndjson(CATALOGUE) });
    await json('import transactions - --org acme', { stdin: ndjson([transaction(1), transaction(2)]) });
    const catalogue = (await run('export catalogue')).stdout;
    expect(catalogue).toBe(ndjson(CATALOGUE));
    const envelope = (await run('export catalogue --json')).stdout;
    expect(JSON.parse(envelope)).toEqual({ data: CATALOGUE });
    await Bun.write(join(folder, 'packed.ndjson.zst'), Bun.zstdCompressSync(catalogue));
    for (const args of ['import catalogue packed.ndjson.zst', 'import catalogue -'])
      expect(await json(args, { stdin: envelope })).toMatchObject({ read: 2, unchanged: 2, withdrawn: 0 });
    const sales = (await run('export transactions --org acme')).stdout;
    expect(sales.trim().split('\n')).toHaveLength(2);
    expect(await json('import transactions - --org acme', { stdin: sales })).toMatchObject({
      read: 2,
      unchanged: 2,
      stale: 0,
    });
    const csv =
      'id,country,soldAt,currencyCode,orderValue,cashback,status\n00000000-0000-7000-8000-000000000009,DE,2026-11-14T12:00:00,EUR,19.99,0.5,PENDING\n';
    expect(await json('import transactions - --org acme', { stdin: csv })).toMatchObject({
      read: 1,
      added: 1,
    });
  });

  test('an empty export is an empty file', async () => {
    await run('orgs create acme');
    expect(await run('export catalogue')).toEqual(printed(''));
    expect((await run('export catalogue --json')).stdout).toBe('{"data":[]}\n');
  });
});
