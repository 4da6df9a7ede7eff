// From click to sale on the command line: an Awin file with click ids as sub-ids becomes transactions of the right
// organisations and users.

import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openUnattributedFile } from '../../src/cli/commands/data/unattributed-file.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { COMMAND, offerbook, rejected } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id, transaction } from '../support/fixtures.ts';
import { SmallDisk } from '../support/small-disk.ts';

const canMount = await SmallDisk.canMount();
const AWIN = join(import.meta.dir, '../../../examples/data/awin');

test.each(DATABASES)(
  'two processes can import an Awin file with click ids at the same time, on $name',
  async ({ create }) => {
    const cwd = temporaryFolder();
    const databaseUrl = await create();
    const run = (...args: string[]) => offerbook(args, { cwd, env: { OFFERBOOK_DATABASE_URL: databaseUrl } });
    const stores = await openStores(databaseUrl, CREATE_OPTIONS);
    const clicks: string[] = [];
    for (const name of ['acme', 'globex']) {
      const org = await stores.organisations.create(name);
      const click = await recordClick(stores, org?.id ?? 0, {
        ...{ kind: 'cashbackOffers', dealId: id(11), passbackUid: `user of ${name}` },
        activatedAtMs: Date.now(),
      });
      clicks.push(click.id);
    }
    await stores.close();

    const source = JSON.parse(readFileSync(join(AWIN, 'source.json'), 'utf8')) as object;
    const byClick = { ...source, subId: 'click', overlay: undefined };
    writeFileSync(join(cwd, 'source.json'), JSON.stringify(byClick));
    const [template] = JSON.parse(readFileSync(join(AWIN, 'transactions.json'), 'utf8')) as object[];
    const sale = (number: number, clickRef: string) => ({ ...template, id: number, clickRefs: { clickRef } });
    const sales = [...clicks.map((click, number) => sale(number + 1, click)), sale(3, 'somebody-elses')];
    writeFileSync(join(cwd, 'sales.json'), JSON.stringify(sales));
    const convert = 'convert transactions --from awin --source source.json sales.json --out rows.ndjson';
    const converted = await run(...convert.split(' '));
    expect(converted.code).toBe(0);

    const refused = await run('import', 'transactions', 'rows.ndjson');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'offerbook: line 3: clickId is not a click id of this installation\nofferbook: Nothing was imported: 1 of 3 rows is invalid.\n',
    ]);
    const both = await Promise.all(
      [1, 2].map(() => run('import', 'transactions', 'rows.ndjson', '--unattributed', 'aside.ndjson')),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.map(({ stdout }) => stdout.replace(/ \([\d.]+ s\)\.\n$/, '')).sort()).toEqual([
      'Imported 2 of 3 transactions: 0 added, 0 changed, 2 unchanged, 1 set aside',
      'Imported 2 of 3 transactions: 2 added, 0 changed, 0 unchanged, 1 set aside',
    ]);
    for (const name of ['acme', 'globex']) {
      const rows = (await run('export', 'transactions', '--org', name)).stdout.trim().split('\n');
      expect(rows.map((row) => JSON.parse(row))).toMatchObject([
        { passbackUid: `user of ${name}`, cashbackOfferId: id(11), orderValue: 81, status: 'PENDING' },
      ]);
    }
    // A repeated row is not added again.
    const [first, ...others] = readFileSync(join(cwd, 'aside.ndjson'), 'utf8').trimEnd().split('\n');
    expect(others).toEqual([]);
    expect(JSON.parse(first ?? '')).toMatchObject({ clickId: 'somebody-elses', orderValue: 81 });
  },
);

describe('the --unattributed file', () => {
  const FILE = 'aside.ndjson';
  const row = (number: number) => JSON.stringify(transaction(number));

  /** Adds the rows of each import. The file must not change until keep() is called. */
  async function putUnattributed(cwd: string, ...imports: readonly (readonly string[])[]): Promise<void> {
    for (const rows of imports) {
      using aside = openUnattributedFile(join(cwd, FILE), join(cwd, 'rows.ndjson'));
      const before = existsSync(join(cwd, FILE)) && readFileSync(join(cwd, FILE), 'utf8');
      await Promise.all(rows.map((each) => aside?.put([each])));
      expect(existsSync(join(cwd, FILE)) && readFileSync(join(cwd, FILE), 'utf8')).toBe(before);
      await aside?.keep();
    }
  }

  test('the --unattributed file grows with every import, contains every row once, and is not created if there are no rows', async () => {
    const cwd = temporaryFolder();
    await putUnattributed(cwd, [], []);
    expect(readdirSync(cwd)).toEqual([]);
    await putUnattributed(cwd, [row(1), row(2)], [], [row(2), row(3), row(3)]);
    expect(readFileSync(join(cwd, FILE), 'utf8')).toBe(`${row(1)}\n${row(2)}\n${row(3)}\n`);
    // A row truncated by a power cut does not damage the next one.
    writeFileSync(join(cwd, FILE), `${row(1)}\n{"id":`);
    await putUnattributed(cwd, [row(1), row(2)]);
    expect(readFileSync(join(cwd, FILE), 'utf8')).toBe(`${row(1)}\n{"id":\n${row(2)}\n`);
    expect(readdirSync(cwd)).toEqual([FILE]);
  });

  test('the --unattributed file contains long rows and rows with Unicode line separators only once', async () => {
    const cwd = temporaryFolder();
    const separated = JSON.stringify(transaction(1, { passbackData: '\u2028 \u2029 \u0085 \r\n' }));
    const long = JSON.stringify(transaction(2, { passbackData: 'ä'.repeat(65_000) }));
    const rows = [separated, long, row(3)];
    await putUnattributed(cwd, rows, rows);
    expect(readFileSync(join(cwd, FILE), 'utf8')).toBe(`${rows.join('\n')}\n`);
  });

  test('the --unattributed file is created readable only by its owner, and then keeps its permissions', async () => {
    const cwd = temporaryFolder();
    const mode = () => statSync(join(cwd, FILE)).mode & 0o777;
    await putUnattributed(cwd, [row(1)]);
    expect(mode()).toBe(0o600);
    chmodSync(join(cwd, FILE), 0o640);
    await putUnattributed(cwd, [row(2)]);
    expect(mode()).toBe(0o640);
  });

  test.if(canMount)('the --unattributed file stays unchanged if the disk is full', async () => {
    await using disk = await SmallDisk.mount(1);
    const path = join(disk.folder, FILE);
    for (const before of [undefined, `${row(1)}\n`]) {
      if (before !== undefined) writeFileSync(path, before);
      using aside = openUnattributedFile(path, 'rows.ndjson');
      await aside?.put(Array.from({ length: 200 }, (_, number) => row(number + 2)));
      const free = disk.fill();
      const full = 'cannot write the output: no space left on device';
      await expect(aside?.keep()).rejects.toThrow(full);
      expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(before);
      free();
    }
  });

  test('the --unattributed file contains the rows of an import whose report could not be printed, and must not be the imported file', async () => {
    const cwd = temporaryFolder();
    const env = { OFFERBOOK_DATABASE_URL: `sqlite:${join(cwd, 'book.db')}` };
    const stores = await openStores(env.OFFERBOOK_DATABASE_URL, CREATE_OPTIONS);
    await stores.close();
    writeFileSync(join(cwd, 'rows.ndjson'), `${row(1)}\n`);
    const command = ['/bin/sh', '-c', 'exec "$0" "$@" > /dev/full', COMMAND];
    const args = ['import', 'transactions', 'rows.ndjson', '--unattributed', FILE];
    const { code, stderr } = await offerbook(args, { cwd, env, command });
    expect([code, stderr]).toEqual([1, 'offerbook: cannot write the output: no space left on device\n']);
    expect(JSON.parse(readFileSync(join(cwd, FILE), 'utf8'))).toMatchObject({ id: id(1) });

    symlinkSync(join(cwd, FILE), join(cwd, 'link'));
    const own = ['/bin/sh', '-c', `exec "$0" "$@" < ${FILE}`, COMMAND];
    for (const [imported, run] of [
      ['link', [COMMAND]],
      ['-', own],
    ] as const) {
      const refused = await offerbook(['import', 'transactions', imported, '--unattributed', FILE], {
        cwd,
        env,
        command: run,
      });
      expect(refused).toEqual(rejected('--unattributed must not be the imported file'));
    }
    expect(() => openUnattributedFile(cwd, '-')).toThrow(`--unattributed ${cwd} is not a file`);
    expect(readFileSync(join(cwd, FILE), 'utf8').split('\n')).toHaveLength(2);
  });
});
