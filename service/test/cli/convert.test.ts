// offerbook convert as a process: rows on stdout or in a complete file, reports, exit codes, and importing the result.

import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { exampleSource } from '@offerbook/feeds/source/example-source.ts';
import { parseSource } from '@offerbook/feeds/source/source-file.ts';
import { awinFiles } from '../../../feeds/test/catalogues.ts';
import { awinSale, idOf, NAMESPACE, type Row } from '../../../feeds/test/fixture.ts';
import { RowFile } from '../../src/cli/commands/data/row-file.ts';
import { offerbook, rejected } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';

/** A folder with a source file and the given files. */
function folderWith(files: Readonly<Record<string, string | Uint8Array>>, changes: Row = {}): string {
  const folder = temporaryFolder();
  const source = {
    network: 'awin',
    account: '77777',
    namespace: NAMESPACE,
    share: { default: 0.5 },
    subId: 'uid',
  };
  writeFileSync(join(folder, 'awin.json'), JSON.stringify({ ...source, ...changes }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

const convertIn = (cwd: string, args: string, stdin = '') =>
  offerbook(`convert ${args}`.split(' '), { cwd, stdin });
const SALES = 'transactions --from awin --source awin.json';
const rowsOf = (ndjson: string) =>
  ndjson
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
const two = JSON.stringify([awinSale(), awinSale({ id: 2, commissionStatus: 'approved' })]);
const bad = JSON.stringify([awinSale(), awinSale({ id: 2, commissionStatus: 'lost' })]);
const LOST_PROBLEM = {
  file: 'bad.json',
  line: 1,
  item: 2,
  id: '2',
  field: 'commissionStatus',
  reason: 'is "lost", expected one of pending, approved, declined, deleted',
};
const NOTHING = {
  saleAmount: { amount: 0, currency: 'EUR' },
  commissionAmount: { amount: 0, currency: 'EUR' },
  transactionParts: [],
};
const LOST =
  'bad.json, line 1 (item 2), id 2: commissionStatus is "lost", expected one of pending, approved, declined, deleted';

describe('convert transactions', () => {
  test('prints rows to stdout and the report to stderr, from plain and compressed files and stdin', async () => {
    const cwd = folderWith({ 'a.json': two, 'b.json.gz': gzipSync(two) });
    for (const [files, stdin] of [
      ['a.json'],
      ['b.json.gz'],
      ['-', two],
      ['a.json b.json.gz -', two],
    ] as const) {
      const { code, stdout, stderr } = await convertIn(cwd, `${SALES} ${files}`, stdin);
      expect({ code, stderr: stderr.replace(/\d\.\d s/, '0 s').replace(/\d rows/, 'n rows') }).toEqual({
        code: 0,
        stderr: 'Converted n rows to 2 transactions (0 s).\n',
      });
      expect(rowsOf(stdout).map(({ id, status }) => [id, status])).toEqual([
        [idOf('awin', 'transaction', '900100200'), 'PENDING'],
        [idOf('awin', 'transaction', '2'), 'CONFIRMED'],
      ]);
    }
  });

  test('prints only problems and exits 2 if a row is invalid; with --skip-invalid, it prints the valid rows and exits 0', async () => {
    const cwd = folderWith({ 'bad.json': bad });
    expect(await convertIn(cwd, `${SALES} bad.json`)).toEqual(
      rejected(`${LOST}\nofferbook: Nothing was converted: 1 of 2 rows is invalid.`),
    );
    const { code, stdout, stderr } = await convertIn(cwd, `${SALES} --skip-invalid bad.json`);
    expect([code, stdout.split('\n').length]).toEqual([0, 2]);
    expect(stderr.replace(/\d\.\d s/, '0 s')).toBe(
      `${LOST}\nConverted 2 rows to 1 transaction, 1 invalid (0 s).\n`,
    );
  });

  test('creates the --out file atomically, private until it is complete, and prints the report to stdout', async () => {
    const cwd = folderWith({ 'a.json': two, 'bad.json': bad, 'out.ndjson': 'as it was\n' });
    const failed = await convertIn(cwd, `${SALES} bad.json --out out.ndjson --json`);
    const report = { read: 2, written: 0, invalid: 1, seconds: expect.any(Number), notes: [] };
    expect([failed.code, JSON.parse(failed.stdout), failed.stderr]).toEqual([
      2,
      { ...report, problems: [LOST_PROBLEM] },
      `offerbook: ${LOST}\nofferbook: Nothing was converted: 1 of 2 rows is invalid.\n`,
    ]);
    expect(readFileSync(join(cwd, 'out.ndjson'), 'utf8')).toBe('as it was\n');
    const { code, stdout, stderr } = await convertIn(cwd, `${SALES} a.json --out out.ndjson --json`);
    expect({ code, stderr, report: JSON.parse(stdout) }).toEqual({
      code: 0,
      stderr: '',
      report: { ...report, written: 2, invalid: 0, problems: [] },
    });
    expect(readFileSync(join(cwd, 'out.ndjson'), 'utf8').split('\n')).toHaveLength(3);
    expect(readdirSync(cwd).sort()).toEqual(['a.json', 'awin.json', 'bad.json', 'out.ndjson']);
  });

  test('prints one document with notes and problems to stderr with --json but without --out', async () => {
    const next = JSON.stringify([awinSale({ id: 3, commissionStatus: 'declined', ...NOTHING })]);
    const cwd = folderWith({ 'bad.json': bad, 'next.json': next });
    const files = `${SALES} bad.json next.json --json`;
    const failed = await convertIn(cwd, files);
    const report = { read: 3, invalid: 1, seconds: expect.any(Number), problems: [LOST_PROBLEM] };
    const notes = ['Declined sales without amounts in any file: 1. Their amounts are 0.'];
    expect({ ...failed, stderr: JSON.parse(failed.stderr) }).toEqual({
      code: 2,
      stdout: '',
      stderr: { ...report, written: 0, notes },
    });
    const skipped = await convertIn(cwd, `${files} --skip-invalid`);
    expect([skipped.code, JSON.parse(skipped.stderr)]).toEqual([0, { ...report, written: 2, notes }]);
  });

  test('prints only the last of several versions of a transaction', async () => {
    const approved = JSON.stringify([awinSale({ commissionStatus: 'approved' })]);
    const cwd = folderWith({ 'a.json': two, 'b.json': approved });
    const { stdout } = await convertIn(cwd, `${SALES} a.json b.json a.json`);
    expect(rowsOf(stdout).map(({ status }) => status)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  test('finds coupons in one or several converted catalogues with --catalogue, with an overlay in any folder', async () => {
    const elsewhere = join(temporaryFolder(), 'o.csv');
    writeFileSync(elsewhere, '\ufeffadvertiserId,logo\n20001,https://l.example/s.svg\n');
    const cwd = folderWith({ 'a.json': two, ...awinFiles }, { overlay: elsewhere });
    const files = '--programmes programmes --commission-groups commission-groups --offers offers';
    const catalogue = await convertIn(cwd, `catalogue --source awin.json ${files} --out catalogue.ndjson`);
    expect(catalogue.code).toBe(0);
    writeFileSync(join(cwd, 'later.ndjson'), '');
    const both = '--catalogue catalogue.ndjson --catalogue later.ndjson';
    const { stdout } = await convertIn(cwd, `${SALES} ${both} a.json`);
    expect(rowsOf(stdout)[0]?.couponId).toBe(idOf('awin', 'coupon', '2651268'));
  });

  test('requires --org for sources with subId org-uid, and rejects --org for other sources', async () => {
    const sales = JSON.stringify([awinSale({ clickRefs: { clickRef: 'acme.user-1' } })]);
    const byOrg = folderWith({ 'a.json': sales }, { subId: 'org-uid', separator: '.' });
    const words = async (cwd: string, args = '') =>
      (await convertIn(cwd, `${SALES} a.json${args}`)).stderr.replace(/ \(.*/s, '');
    expect(await words(byOrg, ' --org acme')).toBe('Converted 1 row to 1 transaction');
    expect(await words(byOrg)).toStartWith('offerbook: missing --org <name>: ');
    expect(await words(byOrg, ' --org a.b')).toStartWith('offerbook: --org must not contain the separator');
    const plain = folderWith({ 'a.json': sales });
    expect(await words(plain, ' --org acme')).toStartWith(
      'offerbook: --org is for sources whose subId is org-uid',
    );
  });

  test('rejects a missing file, a folder, the wrong network, a damaged file and an invalid source file', async () => {
    const cwd = folderWith({
      'broken.json': '[{"id":1}',
      'bad-source.json': '\ufeff{"network":"awin"}',
      'latin-1.json': Buffer.from('{"network":"awin","account":"Möbel"}', 'latin1'),
      'a.json': two,
    });
    const missing = ['account', 'namespace', 'share', 'subId'];
    for (const [args, message] of [
      [`${SALES} none.json`, 'none.json does not exist'],
      [`${SALES} .`, '. is a directory, not a file'],
      [`${SALES} broken.json`, /broken\.json, line 1: the JSON is incomplete/],
      [`${SALES} a.json --out none/out.ndjson`, 'cannot write to none'],
      ['transactions --from cj --source awin.json a.json', 'awin.json is for awin, not for cj'],
      [
        'transactions --source bad-source.json a.json',
        missing.map((field) => `bad-source.json: ${field} is missing`).join('\nofferbook: '),
      ],
      ['transactions --source latin-1.json a.json', 'latin-1.json is not UTF-8'],
      ['transactions --source awin.json', /missing required argument 'file'/],
    ] as const)
      expect({ args, ...(await convertIn(cwd, args)) }).toEqual({ args, ...rejected(message) });
  });
});

describe('the --out file', () => {
  async function writeTo(path: string): Promise<void> {
    using rows = new RowFile(path);
    rows.append('a row');
    await rows.flush();
    await rows.print();
  }

  test('the --out file keeps the permissions of the file that it replaces, and a symbolic link stays a link', async () => {
    const folder = temporaryFolder();
    const [real, link] = [join(folder, 'real.ndjson'), join(folder, 'link')];
    symlinkSync('real.ndjson', link);
    expect(() => new RowFile(link)).toThrow(`${link} is a link to a file that does not exist`);
    for (const mode of [0o600, 0o664]) {
      writeFileSync(real, 'as it was\n');
      chmodSync(real, mode);
      await writeTo(link);
      expect([readFileSync(real, 'utf8'), statSync(real).mode & 0o777]).toEqual(['a row\n', mode]);
      expect(readlinkSync(link)).toBe('real.ndjson');
    }
    expect(readdirSync(folder).sort()).toEqual(['link', 'real.ndjson']);
    if (process.getuid?.() === 0) {
      chownSync(real, 1_001, 1_002);
      await writeTo(link);
      expect([statSync(real).uid, statSync(real).gid]).toEqual([1_001, 1_002]);
    }
    expect(() => new RowFile(folder)).toThrow(`${folder} is a directory, not a file`);
  });

  test('the --out file can be a pipe, which receives the rows and stays a pipe', async () => {
    const folder = temporaryFolder();
    const pipe = join(folder, 'pipe');
    Bun.spawnSync(['mkfifo', pipe]);
    const reader = Bun.spawn(['cat', pipe]);
    await writeTo(pipe);
    expect(await reader.stdout.text()).toBe('a row\n');
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(folder)).toEqual(['pipe']);
  });
});

describe('convert catalogue', () => {
  test("rejects another network's options, files without a campaign, and missing files", async () => {
    const account = { network: 'partnerize', subId: 'uid', account: '1', namespace: NAMESPACE };
    const partnerize = JSON.stringify({ ...account, share: { default: 1 } });
    const cwd = folderWith({ 'p.json': partnerize, 'c.json': '{"active_commissions":[]}' });
    const convert = (args: string) => convertIn(cwd, `catalogue --source ${args}`);
    const options = '--programmes, --commission-groups, --offers';
    expect(await convert('awin.json --links c.json')).toEqual(
      rejected(`--links does not apply to awin; its options are ${options}`),
    );
    expect(await convert('p.json --commissions c.json')).toEqual(
      rejected("--commissions needs the campaign's id: --commissions ID=c.json"),
    );
    expect(await convert('awin.json')).toEqual(rejected(`no files to convert; specify them with ${options}`));
    expect((await convert('p.json --commissions 7=c.json')).code).toBe(0);
  });

  test('exits 3 if a page is missing', async () => {
    const first = JSON.stringify({ data: [], pagination: { page: 1, pageSize: 200, totalPages: 2 } });
    const cwd = folderWith({ 'o.json': first });
    expect(await convertIn(cwd, 'catalogue --source awin.json --offers o.json')).toEqual(
      rejected(/^offerbook: a page of --offers is missing/, 3),
    );
  });
});

test('convert links writes links that import links accepts, and needs a link in the source file', async () => {
  const link = 'https://network.example/?m={advertiser}&s={click}';
  const programme = {
    id: 1,
    name: 'Shop',
    displayUrl: 'https://www.shop.example/',
    membershipStatus: 'joined',
    validDomains: [{ domain: 'shop.test' }],
  };
  const files = { 'p.json': JSON.stringify([programme]) };
  const args = 'links --source awin.json --programmes p.json';
  const cwd = folderWith(files, { link });
  const { code, stdout, stderr } = await convertIn(cwd, args);
  const row = {
    retailerId: idOf('awin', 'retailer', '1'),
    template: 'https://network.example/?m=1&s={click}',
    domains: ['shop.test'],
  };
  expect([code, stdout]).toEqual([0, `${JSON.stringify(row)}\n`]);
  expect(stderr).toMatch(/^Converted 1 row to 1 link \(\d+\.\d s\)\.\n$/);
  await offerbook(['orgs', 'create', 'acme'], { cwd });
  const imported = await offerbook(['import', 'links', '-'], { cwd, stdin: stdout });
  expect([imported.code, imported.stderr]).toEqual([0, '']);
  expect(await convertIn(folderWith(files), args)).toMatchObject({
    code: 2,
    stderr: 'offerbook: awin.json has no "link": the URL for clicks, with {advertiser} and {click}\n',
  });
});

test('convert --example prints a source file with a new namespace that works unchanged', async () => {
  const { code, stdout } = await offerbook(['convert', '--example', 'awin']);
  const { namespace } = parseSource(stdout, 'source.json');
  expect([code, JSON.parse(stdout)]).toEqual([0, exampleSource('awin', namespace)]);
  const cwd = folderWith({ 'example.json': stdout, 'a.json': two });
  const converted = await convertIn(cwd, 'transactions --source example.json a.json');
  expect([converted.code, converted.stdout.split('\n').length]).toEqual([0, 3]);
});

test('convert leaves no temporary files behind', async () => {
  const tmp = temporaryFolder();
  const cwd = folderWith({ 'a.json': two, 'bad.json': bad });
  for (const file of ['a.json', 'bad.json']) {
    await offerbook(['convert', ...SALES, file], { cwd, env: { TMPDIR: tmp } });
    expect(readdirSync(tmp)).toEqual([]);
  }
});
