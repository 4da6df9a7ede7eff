// SQLite backups: complete, consistent during writes, and validated before a restore. Also tests what polling clients
// receive after a restore.

import { Database as SqliteFile } from 'bun:sqlite';
import { describe, expect, mock, test } from 'bun:test';
import * as fs from 'node:fs';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Organisation } from '../../src/domain/organisation.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { BackupManifest } from '../../src/storage/backup/backup-manifest.ts';
import { makeBackup } from '../../src/storage/backup/make-backup.ts';
import { beginTimeline } from '../../src/storage/backup/new-timeline.ts';
import { type RestoreOptions, restoreBackup } from '../../src/storage/backup/restore-backup.ts';
import { openSpool } from '../../src/storage/click-spool.ts';
import type { Database } from '../../src/storage/database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { MAIN_TABLES } from '../../src/storage/schema/tables.ts';
import { SQLITE_MAIN } from '../../src/storage/sqlite/sqlite-schemas.ts';
import { userKey } from '../../src/storage/transactions/user-ids.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { transaction } from '../support/fixtures.ts';
import { putDocuments } from '../support/put-documents.ts';
import { damageTable } from './damage-table.ts';
import { fillEveryColumn } from './fill-every-column.ts';
import {
  importRows,
  interrupted,
  issueToken,
  newIds,
  newOrganisation,
  openTestStores,
  readAllTransactions,
  rejection,
  rowsOf,
  TEST_AUDITOR,
  writeTransactions,
} from './open-test-stores.ts';

const START_MS = Date.UTC(2026, 10, 15, 12);

/** A poller's copy and its watermark. */
class Poller {
  readonly copy = new Map<string, Transaction>();
  watermarkMs = -1;
  /** Number of rows in the last walk. */
  received = 0;

  async poll(stores: Stores, orgId: number): Promise<void> {
    const window = { minMs: this.watermarkMs + 1, maxMs: Number.MAX_SAFE_INTEGER };
    const page = await stores.transactions.page({ orgId, window, limit: 1_000 });
    const rows = rowsOf(page);
    for (const row of rows) this.copy.set(row.id, row);
    this.received = rows.length;
    this.watermarkMs = page.completeThroughMs;
  }

  get rows(): Transaction[] {
    return [...this.copy.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** A copy of a backup with other contents of one file, and a manifest that matches them. */
function tamper(source: string, manifest: BackupManifest, name: string, ...statements: string[]): string {
  const copy = join(temporaryFolder(), 'copy');
  cpSync(source, copy, { recursive: true });
  const file = new SqliteFile(join(copy, name));
  for (const statement of statements) file.run(statement);
  file.close();
  const bytes = readFileSync(join(copy, name));
  const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
  const files = manifest.files.map((each) =>
    each.name === name ? { ...each, bytes: bytes.length, sha256 } : each,
  );
  writeFileSync(join(copy, 'manifest.json'), JSON.stringify({ ...manifest, files }));
  return copy;
}

describe('backups', () => {
  const open = openTestStores();
  let nowMs = START_MS;
  const clock = () => nowMs;
  const auditor = { clock, by: 'the test' };

  async function scene(name = 'shop.db') {
    const folder = temporaryFolder();
    const path = join(folder, name);
    const url = `sqlite:${path}`;
    const source = join(folder, 'backup');
    const stores = await open.stores(url, COMMAND_OPTIONS, clock);
    const org = await newOrganisation(stores);
    const backup = (target = source, spool = join(folder, 'spool.db')) =>
      makeBackup({ url, target, spoolPath: () => spool, isOurs: () => true, clock, version: '1.2.3' });
    const restore = (options: Partial<RestoreOptions> = {}) =>
      restoreBackup({ url, source, replaces: true, keepsStamps: false, auditor, ...options });
    /** Restores the backup and opens the database. */
    const reopen = async (options: Partial<RestoreOptions> = {}) => {
      await stores.close();
      const report = await restore(options);
      return { report, restored: await open.stores(url, COMMAND_OPTIONS, clock) };
    };
    return { folder, path, url, source, stores, org, backup, restore, reopen };
  }

  async function load(stores: Stores, org: Organisation, rows: readonly object[]): Promise<void> {
    nowMs += 1_000;
    await importRows(stores, org, rows, clock);
  }

  const everything = async (stores: Stores, org: Organisation) => ({
    transactions: await readAllTransactions(stores, org.id),
    versions: await stores.history.versions(transaction(1).id),
    tokens: (await stores.tokens.list()).tokens,
    clicks: await stores.clicks.list(100),
    organisations: await stores.organisations.list(),
    clickKey: await stores.clickKey(),
  });

  test('a restore changes exactly the tables that declare it', async () => {
    const { url, stores, org, backup, restore } = await scene();
    const database = open.database(url);
    await load(stores, org, [transaction(1)]);
    await issueToken(stores, org.id);
    await fillEveryColumn(database, org.id);
    const origin = { by: 'the test', source: null, fileName: 'links.ndjson', version: '1' };
    await stores.imports.begin({ kind: 'links', orgId: null, ...origin });
    await database.all('UPDATE webhooks SET paused_at = NULL');
    for (const table of ['transactions', 'history', 'pull_rows'])
      await database.all(
        `UPDATE ${table} SET document = '{"passbackUid":null}' WHERE document NOT LIKE '{%'`,
      );
    const rowsOf = async (opened: Database) => {
      const tables = MAIN_TABLES.map(async (table) => {
        const rows = await opened.all(`SELECT * FROM ${table.name}`);
        return [table.name, rows.map((row) => JSON.stringify(row)).sort()] as const;
      });
      return new Map(await Promise.all(tables));
    };
    const before = await rowsOf(database);
    await backup();

    await load(stores, org, [transaction(2)]);
    await database.all('UPDATE tokens SET revoked_at = $1 WHERE revoked_at IS NULL', nowMs);
    await database.all('UPDATE webhooks SET generation = generation + 1');
    await stores.erasures.erase(org, 'nobody');
    await stores.close();
    await database.close();
    await restore();
    const after = await rowsOf(open.database(url));
    const names = MAIN_TABLES.map(({ name }) => name);
    const changed = names.filter((name) => !Bun.deepEquals(before.get(name), after.get(name)));
    // Polling clients converge, and what was revoked or erased since the backup stays so.
    const expected = 'audit,erasures,imports,organisations,revisions,tokens,transactions,webhooks';
    expect(changed.sort().join()).toBe(expected);
  });

  test('a backup contains every row, is readable only by its owner, and restores everything', async () => {
    const { folder, path, source, stores, org, backup, reopen } = await scene();
    await load(stores, org, [transaction(1), transaction(2)]);
    await load(stores, org, [transaction(1, { status: 'CONFIRMED' })]);
    await issueToken(stores, org.id);
    await recordClick(stores, org.id);
    const before = await everything(stores, org);
    const manifest = await backup();

    expect(manifest).toMatchObject({ madeAt: printTimestamp(nowMs), version: '1.2.3', format: 1 });
    expect(manifest.files.map(({ name, rows }) => [name, rows.transactions ?? rows.clicks])).toEqual([
      ['offerbook.db', 2],
      ['offerbook.db-activations', 1],
    ]);
    expect(JSON.parse(readFileSync(join(source, 'manifest.json'), 'utf8'))).toEqual(manifest);
    const names = readdirSync(source).sort();
    expect(names).toEqual(['manifest.json', 'offerbook.db', 'offerbook.db-activations']);
    expect(names.map((name) => statSync(join(source, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(statSync(source).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    const dangling = join(folder, 'dangling');
    symlinkSync(join(folder, 'nowhere'), dangling);
    for (const target of [source, dangling])
      expect(await rejection(backup(target))).toEqual(
        new StorageError('exists', `${target} already exists; nothing was written`),
      );
    expect(readlinkSync(dangling)).toBe(join(folder, 'nowhere'));

    await stores.close();
    for (const end of ['', '-activations']) rmSync(`${path}${end}`);
    for (const name of names) chmodSync(join(source, name), 0o644);
    const { report, restored } = await reopen({ replaces: false, keepsStamps: true });
    expect(report).toEqual({
      madeAt: manifest.madeAt,
      stamped: 0,
      tokensRevoked: 0,
      webhooksPaused: 0,
      usersErased: 0,
      organisationsDeleted: [],
      unknown: ['revocations', 'erasures', 'deletions'],
      clicks: 'of the backup',
      replaced: null,
    });
    expect(['', '-activations'].map((end) => statSync(`${path}${end}`).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(await everything(restored, org)).toEqual(before);
    expect((await restored.audit.list({ limit: 1 }))[0]).toMatchObject({
      action: 'database restored',
      details: { madeAt: manifest.madeAt, stamped: 0, tokensRevoked: 0, webhooksPaused: 0 },
    });
    expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([]);
  });

  test("a restore through a symbolic link replaces the link's target and moves the old file aside next to the target", async () => {
    const { folder, path, stores, org, backup, restore } = await scene();
    await load(stores, org, [transaction(1)]);
    await backup();
    await load(stores, org, [transaction(2)]);
    await stores.close();
    const link = join(temporaryFolder(), 'link.db');
    symlinkSync(path, link);
    const { replaced } = await restore({ url: `sqlite:${link}` });
    expect([dirname(replaced ?? ''), readdirSync(dirname(link))]).toEqual([folder, ['link.db']]);
    const ids = async (at: string) =>
      (await readAllTransactions(await open.stores(`sqlite:${at}`), org.id)).map((row) => row.id);
    expect(await ids(path)).toEqual([transaction(1).id]);
    expect(await ids(join(replaced ?? '', 'shop.db'))).toEqual([transaction(1).id, transaction(2).id]);
    // A dangling link, as if the disk were not mounted.
    rmSync(link);
    symlinkSync(join(folder, 'not there', 'shop.db'), link);
    expect((await rejection(restore({ url: `sqlite:${link}` }))).message).toBe(
      `${link} is a symbolic link to a missing file; check that its disk is mounted`,
    );
    expect(readlinkSync(link)).toBe(join(folder, 'not there', 'shop.db'));
  });

  test('a backup does not wait for a running import and contains none of its rows', async () => {
    const { stores, org, backup } = await scene();
    await load(stores, org, [transaction(1)]);
    const manifest = await stores.transactions.write(org.id, async (writer) => {
      const document = JSON.stringify(transaction(2));
      await putDocuments(writer, [{ id: transaction(2).id, document }]);
      return backup();
    });
    expect(manifest.files.map(({ rows }) => rows.transactions)).toEqual([1]);
    expect(await readAllTransactions(stores, org.id)).toHaveLength(2);
  });

  test('a restore rejects a damaged, incomplete or forged backup and changes nothing', async () => {
    const { folder, path, source, stores, org, backup, restore } = await scene();
    await load(stores, org, [transaction(1)]);
    await recordClick(stores, org.id);
    const manifest = await backup();
    await stores.close();
    const [bad, main, clicks] = [join(folder, 'bad'), 'offerbook.db', 'offerbook.db-activations'];
    const file = (name: string) => join(bad, name);
    const list = (changes: object) =>
      writeFileSync(file('manifest.json'), JSON.stringify({ ...manifest, ...changes }));
    const rename = (name: string) => list({ files: manifest.files.map((each) => ({ ...each, name })) });
    const link = (name: string) => {
      rmSync(file(name));
      symlinkSync(join(source, name), file(name));
    };
    const damaged = "is damaged: its checksum differs from the manifest's; nothing was changed";
    const invalid = 'is not a backup that this version of Offerbook can read: its manifest.json is invalid';
    const linked = 'is a symbolic link, which a backup never contains; nothing was changed';
    const faults: [damage: () => void, message: string][] = [
      [() => flipByte(file(main), 5_000), `${file(main)} ${damaged}`],
      [() => flipByte(file(clicks), 5_000), `${file(clicks)} ${damaged}`],
      [() => truncateSync(file(main), 8_192), `${file(main)} ${damaged}`],
      [() => rmSync(file(clicks)), `${file(clicks)} could not be copied: `],
      [() => rmSync(file('manifest.json')), `${bad} is not a backup: its manifest.json cannot be read`],
      [() => writeFileSync(file('manifest.json'), '{'), `${bad} ${invalid}`],
      [() => rename('../backup/offerbook.db'), `${bad} ${invalid}`],
      [() => rename(main), `${bad} ${invalid}`],
      [() => list({ madeAt: '\u001b[2Jnow' }), `${bad} ${invalid}`],
      [() => list({ madeAt: 'now' }), `${bad} ${invalid}`],
      [() => list({ version: '\u001b[2J' }), `${bad} ${invalid}`],
      [() => link('manifest.json'), `${file('manifest.json')} ${linked}`],
      [() => link(main), `${file(main)} ${linked}`],
      [() => link(clicks), `${file(clicks)} ${linked}`],
    ];
    const before = readFileSync(path);
    const beside = readdirSync(folder).length;
    for (const [damage, message] of faults) {
      cpSync(source, bad, { recursive: true });
      damage();
      const refusal = await rejection(restore({ source: bad }));
      expect(refusal).toMatchObject({ name: 'StorageError', kind: 'invalid' });
      expect(refusal.message).toStartWith(message);
      rmSync(bad, { recursive: true });
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder).length).toBe(beside);
    // The folder itself may have a second name, such as one for the newest backup.
    symlinkSync(source, join(folder, 'newest'));
    expect((await restore({ source: join(folder, 'newest') })).stamped).toBe(0);
  });

  test('a restore rejects a backup with a modified schema and does not run any of its statements', async () => {
    const { folder, path, source, stores, org, backup, restore } = await scene();
    await load(stores, org, [transaction(1)]);
    await recordClick(stores, org.id);
    const manifest = await backup();
    await stores.close();
    const before = readFileSync(path);
    const spyOn = (table: string) =>
      `CREATE TRIGGER spy AFTER UPDATE ON ${table} BEGIN DELETE FROM ${table}; END`;
    for (const [sql, difference, name = 'offerbook.db'] of [
      [spyOn('transactions'), 'the trigger "spy"'],
      ['CREATE VIEW tokens2 AS SELECT * FROM tokens', 'the view "tokens2"'],
      ['DROP TABLE links', 'the table links is missing'],
      ['DROP INDEX imports_by_time', 'imports lacks INDEX imports_by_time (began_at)'],
      ['CREATE TABLE more (a TEXT DEFAULT (1))', 'the table "more"'],
      ['ALTER TABLE tokens ADD COLUMN more TEXT', 'tokens has more TEXT'],
      [spyOn('clicks'), 'the trigger "spy"', 'offerbook.db-activations'],
    ] as const) {
      const copy = tamper(source, manifest, name, sql);
      expect(await rejection(restore({ source: copy }))).toEqual(
        new StorageError(
          'invalid',
          `${name} in the backup does not have Offerbook's schema: ${difference}; nothing was changed`,
        ),
      );
    }
    for (const sql of ['DROP TABLE schema_version', `ALTER TABLE schema_version RENAME TO other`])
      expect(await rejection(restore({ source: tamper(source, manifest, 'offerbook.db', sql) }))).toEqual(
        new StorageError(
          'invalid',
          'offerbook.db in the backup is not an Offerbook database; nothing was changed',
        ),
      );
    const newer = tamper(source, manifest, 'offerbook.db', 'UPDATE schema_version SET version = 999');
    expect((await rejection(restore({ source: newer }))).message).toStartWith(
      'offerbook.db in the backup has schema version 999, created by a newer Offerbook; this one supports up to version ',
    );
    expect(readFileSync(path).equals(before)).toBeTrue();
    expect(readdirSync(folder).sort()).toEqual(['backup', 'shop.db', 'shop.db-activations']);
    // Accepted: an index that an operator added, and the statistics of ANALYZE.
    const indexed = tamper(source, manifest, 'offerbook.db', 'CREATE INDEX own ON tokens (label)', 'ANALYZE');
    expect((await restore({ source: indexed })).stamped).toBe(0);
  });

  test('a path that is too long fails with a one-sentence message and changes nothing', async () => {
    // The name of the folder for the replaced database would be too long.
    const { folder, stores, org, backup, restore } = await scene('x'.repeat(220));
    await load(stores, org, [transaction(1)]);
    await backup();
    await stores.close();
    const before = readdirSync(folder).sort();
    const tooLong = join(folder, 'x'.repeat(300));
    for (const attempt of [() => backup(tooLong), () => restore({ url: `sqlite:${tooLong}` }), restore])
      expect(await rejection(attempt())).toMatchObject({
        name: 'StorageError',
        kind: 'invalid',
        message: expect.stringContaining('ENAMETOOLONG'),
      });
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  test.each(SQLITE_MAIN.steps.map((_, index) => index + 1))(
    'a backup of schema version %p is restored with the current schema',
    async (count) => {
      const { path, stores, backup, reopen } = await scene();
      await stores.close();
      rmSync(path);
      const database = open.database(`sqlite:${path}`);
      const steps = SQLITE_MAIN.steps.slice(0, count);
      await migrate(database, undefined, { ...SQLITE_MAIN, oldestVersion: 1, steps });
      await database.close();
      await backup();
      const { restored } = await reopen();
      expect(await restored.organisations.list()).toEqual([]);
      expect(await restored.links.list()).toEqual([]);
    },
  );

  test('a restore does not replace a database that exists, is in use, or belongs to another program', async () => {
    const { folder, path, stores, org, backup, restore } = await scene();
    await load(stores, org, [transaction(1)]);
    await backup();
    expect(await rejection(restore({ replaces: false }))).toEqual(
      new StorageError('exists', `${path} already exists`),
    );
    expect(await rejection(restore())).toMatchObject({
      kind: 'busy',
      message: `${path} is in use; stop all servers and imports first (nothing was changed)`,
    });
    expect(await readAllTransactions(stores, org.id)).toHaveLength(1);
    await stores.close();

    const other = new SqliteFile(join(folder, 'other.db'), { create: true });
    other.run('CREATE TABLE precious (x)');
    other.close();
    writeFileSync(join(folder, 'text.db'), 'precious '.repeat(100));
    mkdirSync(join(folder, 'folder.db'));
    for (const name of ['other.db', 'text.db', 'folder.db'])
      expect(await rejection(restore({ url: `sqlite:${join(folder, name)}` }))).toBeInstanceOf(StorageError);
    expect(readFileSync(join(folder, 'text.db'), 'utf8')).toStartWith('precious');
  });

  describe.each(['the replaced database is readable', 'the replaced database is lost'])('when %s', (how) => {
    test('polling clients end up with exactly the restored and reimported transactions', async () => {
      const { path, stores, org, backup, reopen } = await scene();
      const [early, late] = [new Poller(), new Poller()];
      await load(stores, org, [transaction(1), transaction(2), transaction(3)]);
      await early.poll(stores, org.id);
      await late.poll(stores, org.id);
      await backup();
      const changes = [transaction(1, { status: 'CONFIRMED' }), transaction(4)];
      // A faulty import, the reason for the restore. It is not imported again.
      await load(stores, org, [transaction(2, { status: 'DECLINED', cashback: 0 })]);
      await load(stores, org, changes);
      await late.poll(stores, org.id);
      expect(late.copy.size).toBe(4);
      const lostMs = late.watermarkMs;
      await stores.close();
      if (how === 'the replaced database is lost') {
        rmSync(path);
        // SQLite would replay this journal into the new database.
        writeFileSync(`${path}-journal`, 'of what was there');
      }
      // The machine's clock is behind after its restart.
      if (how === 'the replaced database is readable') nowMs -= 3_600_000;

      const { report, restored } = await reopen();
      expect([report.stamped, existsSync(`${path}-journal`)]).toEqual([3, false]);
      await late.poll(restored, org.id);
      expect(late.watermarkMs).toBeGreaterThan(lostMs);
      await load(restored, org, changes);
      for (const poller of [early, late]) {
        await poller.poll(restored, org.id);
        await poller.poll(restored, org.id);
        expect(poller.received).toBe(0);
        const state = await readAllTransactions(restored, org.id);
        expect(poller.rows).toEqual(state.map(({ document }) => JSON.parse(document) as Transaction));
      }
      expect(late.rows.map(({ status }) => status)).toEqual(['CONFIRMED', 'PENDING', 'PENDING', 'PENDING']);
    });
  });

  test('a restore over an existing database keeps its clicks, revocations and erasures, ends its walks, and moves the other files aside', async () => {
    const { path, stores, org, backup, reopen } = await scene();
    const came = { passbackUid: 'erased and back', soldAt: printTimestamp(nowMs + 60_000) };
    await stores.erasures.erase(org, came.passbackUid);
    const sale = transaction(1, { passbackUid: 'erased later', passbackData: 'for them' });
    await load(stores, org, [sale, transaction(2, came)]);
    await load(stores, org, [{ ...sale, status: 'CONFIRMED' }]);
    const token = await issueToken(stores, org.id);
    const old = await recordClick(stores, org.id, { passbackUid: 'erased later' });
    await backup();
    await stores.tokens.revoke(token.id);
    await stores.erasures.erase(org, 'erased later');
    const fresh = await recordClick(stores, org.id, { passbackUid: 'came later' });
    const walk = { tokenId: token.id, window: { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER } };
    await stores.walks.begin(walk, nowMs);
    expect(await stores.walks.find(walk)).toBe(nowMs);
    const { report, restored } = await reopen();

    expect(report).toMatchObject({ clicks: 'as they were', tokensRevoked: 1, usersErased: 1 });
    expect(await restored.walks.find(walk)).toBeUndefined();
    const nothing = { transactions: 0, versions: 0, clicks: 0 };
    expect(await restored.erasures.count(org.id, 'erased later')).toEqual(nothing);
    expect((await restored.erasures.count(org.id, came.passbackUid)).transactions).toBe(1);
    expect((await restored.tokens.list()).tokens[0]?.revokedAtMs).toBe(nowMs);
    const clicks = await restored.clicks.find([old.id, fresh.id]);
    expect([clicks.get(old.id)?.passbackUid, clicks.get(fresh.id)?.passbackUid]).toEqual([
      null,
      'came later',
    ]);
    expect(dirname(report.replaced ?? '')).toBe(dirname(path));
    expect(readdirSync(report.replaced ?? '').sort()).toEqual(['shop.db', 'shop.db-walks']);
    const aside = new SqliteFile(join(report.replaced ?? '', 'shop.db'), { readonly: true });
    expect(aside.query('SELECT count(*) FROM transactions').values()).toEqual([[2]]);
  });

  test('a restore does not bring back erased users, from the backup or a later import, but keeps users who returned after their erasure', async () => {
    const { path, url, stores, org, backup, reopen } = await scene();
    await load(stores, org, [transaction(1, { passbackUid: 'no text' })]);
    // Written directly, because imports now reject unpaired surrogates.
    const raw = open.database(url);
    const sql = String.raw`UPDATE transactions SET user_key = $1, document = replace(document, 'no text', '\ud800')`;
    await raw.all(sql, userKey('\ud800'));
    const click = await recordClick(stores, org.id, { passbackUid: 'only clicked' });
    for (const passbackUid of ['only in the history', 'ben'])
      await load(stores, org, [transaction(4, { passbackUid })]);
    await backup();
    const soldAt = (ms: number) => ({ passbackUid: 'not in the backup', soldAt: printTimestamp(ms) });
    const before = transaction(2, soldAt(nowMs));
    await load(stores, org, [before]);
    nowMs += 60_000;
    const erasedAtMs = nowMs;
    const erased = ['not in the backup', 'only clicked', 'only in the history', '\ud800'];
    for (const user of erased) await stores.erasures.erase(org, user);
    const after = transaction(3, soldAt(nowMs + 60_000));
    nowMs += 3_600_000;
    await stores.close();
    await raw.close();
    // With a damaged click file, the clicks come from the backup.
    writeFileSync(`${path}-activations`, 'damaged');
    const { report, restored } = await reopen();
    expect(report).toMatchObject({ clicks: 'of the backup', usersErased: 4 });

    expect((await restored.clicks.find([click.id])).get(click.id)?.passbackUid).toBeNull();
    expect((await restored.erasures.count(org.id, 'only in the history')).versions).toBe(0);
    await load(restored, org, [before, after]);
    const users = (await readAllTransactions(restored, org.id)).map(
      ({ document }) => (JSON.parse(document) as Transaction).passbackUid,
    );
    expect(users).toEqual([null, null, 'not in the backup', 'ben']);
    const moments = open.database(url).all<{ erased_at: number }>('SELECT erased_at FROM erasures');
    expect((await moments).map((row) => row.erased_at)).toEqual(erased.map(() => erasedAtMs));
  });

  test('a restore revokes the tokens of organisations that were deleted after the backup, and lists those organisations', async () => {
    const { folder, url, stores, org, backup, restore } = await scene();
    const options = { revokesTokens: true, reloadMs: 0 };
    const begun = await newOrganisation(stores, 'deletion begun');
    const again = await newOrganisation(stores, 'deleted and made again');
    for (const { id } of [org, begun, again]) await issueToken(stores, id);
    for (const name of ['deleted once', 'deleted twice']) {
      await newOrganisation(stores, name);
      await stores.organisations.delete(name, options);
      nowMs += 1_000;
      await issueToken(stores, (await newOrganisation(stores, name)).id);
    }
    await backup(join(folder, 'earlier'));
    nowMs += 1_000;
    await issueToken(stores, (await newOrganisation(stores, 'new')).id);
    await backup();
    nowMs += 1_000;
    const deletedAtMs = nowMs;
    for (const name of [again.name, 'deleted twice']) await stores.organisations.delete(name, options);
    await newOrganisation(stores, again.name);
    await interrupted((onBatch) => stores.organisations.delete(begun.name, { ...options, onBatch }));
    await stores.close();
    nowMs += 1_000;

    const ends = async () => {
      const restored = await open.stores(url, COMMAND_OPTIONS, clock);
      const { tokens } = await restored.tokens.list();
      await restored.close();
      return Object.fromEntries(tokens.map(({ orgName, revokedAtMs }) => [orgName, revokedAtMs]));
    };
    const gone = [again.name, 'deleted twice', begun.name];
    expect(await restore({ source: join(folder, 'earlier') })).toMatchObject({
      tokensRevoked: 3,
      organisationsDeleted: gone,
    });
    const expected = {
      ...{ acme: null, 'deleted once': null },
      ...Object.fromEntries(gone.map((name) => [name, deletedAtMs])),
    };
    expect(await ends()).toEqual(expected);
    // An organisation that is missing because it was created later does not count as deleted.
    expect(await restore()).toMatchObject({ organisationsDeleted: [] });
    expect(await ends()).toEqual({ ...expected, new: null });
  });

  test('a backup contains the clicks in the spool, and no sale that arrives while they are copied', async () => {
    const { folder, path, url, source, stores, org } = await scene();
    const recorded = await recordClick(stores, org.id);
    const click = await recordClick(stores, org.id, { passbackUid: 'in the spool' });
    await stores.clicks.remove([click]);
    const spoolPath = () => join(folder, 'spool.db');
    const spool = openSpool(spoolPath);
    await spool.put([click, recorded]);
    await spool.close();
    // Called for each click in the spool.
    const isOurs = () => {
      const main = new SqliteFile(path);
      main.run(
        `INSERT INTO transactions (org_id, id, updated_at, document) VALUES (${org.id}, randomblob(16), 1, '{}')`,
      );
      main.close();
      return true;
    };
    const manifest = await makeBackup({ url, target: source, spoolPath, isOurs, clock, version: '1.2.3' });
    expect(await readAllTransactions(stores, org.id)).toHaveLength(2);
    expect(manifest.files[0]?.rows.transactions).toBe(0);
    const copy = new SqliteFile(join(source, 'offerbook.db-activations'), { readonly: true });
    const found = copy.query('SELECT id FROM clicks ORDER BY id').values().flat();
    expect(found).toEqual([recorded.id, click.id].sort());
    expect(readdirSync(source).length).toBe(3);
  });

  test('a backup that fails leaves nothing behind', async () => {
    const { folder, path, source, stores, backup } = await scene();
    await stores.close();
    const spool = join(temporaryFolder(), 'spool.db');
    writeFileSync(spool, 'notes', { mode: 0o600 });
    const before = readdirSync(folder);
    expect(await rejection(backup(source, spool))).toMatchObject({ kind: 'invalid' });
    expect(readdirSync(folder)).toEqual(before);

    const file = new SqliteFile(path);
    file.run(`INSERT INTO erasures VALUES (99, 'digest', 1)`);
    file.close();
    const refusal = await rejection(backup());
    expect(refusal).toMatchObject({ kind: 'corrupt' });
    expect(refusal.message).toStartWith('the copy of offerbook.db is damaged, and the database may be too: ');
    expect(readdirSync(folder)).toEqual(before);

    rmSync(path);
    expect((await rejection(backup())).message).toBe(`there is no Offerbook database at ${path}`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a restore changes nothing while another process has the click database open', async () => {
    const { folder, path, url, stores, org, backup, restore } = await scene();
    const click = await recordClick(stores, org.id);
    await backup();
    await stores.close();
    const clicks = new SqliteFile(`${path}-activations`);
    expect(clicks.query('SELECT id FROM clicks').values()).toEqual([[click.id]]);
    const refusal = await rejection(restore());
    clicks.close();
    expect(refusal).toMatchObject({ kind: 'busy' });
    expect(refusal.message).toBe(
      `${path}-activations is in use; stop all servers and imports first (nothing was changed)`,
    );
    expect(readdirSync(folder).sort()).toEqual(['backup', 'shop.db', 'shop.db-activations']);
    expect(await (await open.stores(url)).clicks.list(2)).toEqual([click]);
  });

  test('a restore keeps the end of a token that was moved earlier after the backup', async () => {
    const { stores, org, backup, reopen } = await scene();
    const token = await issueToken(stores, org.id);
    const rotate = (overlapEndsAtMs: number, digest: string) =>
      stores.tokens.rotate(token.id, ({ orgId, kind, label, expiresAtMs }) => ({
        successor: { orgId, kind, label, expiresAtMs, digest },
        overlapEndsAtMs,
      }));
    const first = await rotate(nowMs + 60_000, 'successor');
    await backup();
    await rotate(nowMs + 10_000, 'after the backup');
    const { report, restored } = await reopen();
    expect(report).toMatchObject({ tokensRevoked: 1 });
    expect<unknown>((await restored.tokens.list()).tokens).toEqual([
      { ...token, overlapEndsAtMs: nowMs + 10_000 },
      first?.successor,
    ]);
  });

  test('a restore over a partly damaged database keeps what is readable and reports what is not', async () => {
    const { path, stores, org, backup, reopen } = await scene();
    await load(stores, org, [transaction(1, { passbackUid: 'anna' })]);
    const token = await issueToken(stores, org.id);
    await backup();
    await stores.tokens.revoke(token.id);
    await stores.erasures.erase(org, 'anna');
    await stores.close();
    const known = { tokensRevoked: 1, usersErased: 0, organisationsDeleted: [] };
    const reopenDamaged = async (table: string) => {
      damageTable(path, table);
      const { report, restored } = await reopen();
      const { tokens } = await restored.tokens.list();
      const { transactions } = await restored.erasures.count(org.id, 'anna');
      await restored.close();
      return { report, tokens, transactions };
    };
    expect(await reopenDamaged('erasures')).toMatchObject({
      report: { ...known, unknown: ['erasures'] },
      tokens: [{ id: token.id, revokedAtMs: nowMs }],
      transactions: 1,
    });
    expect(await reopenDamaged('audit')).toMatchObject({ report: { ...known, unknown: ['deletions'] } });
    const all = ['revocations', 'erasures', 'deletions'];
    expect(await reopenDamaged('tokens')).toMatchObject({
      report: { ...known, tokensRevoked: 0, unknown: all },
    });
  });

  describe.each(['whole', 'damaged'])('a restore over a database whose clicks are %s', (how) => {
    test('a restore killed at any moment leaves the database file in place, and repeating it gives the same result', async () => {
      const { folder, path, stores, org, backup, restore } = await scene();
      await load(stores, org, [transaction(1, { passbackUid: 'erased later' }), transaction(2)]);
      const token = await issueToken(stores, org.id);
      await recordClick(stores, org.id, { passbackUid: 'erased later' });
      await backup();
      await load(stores, org, [transaction(2, { status: 'DECLINED', cashback: 0 })]);
      await stores.tokens.revoke(token.id);
      for (const user of ['erased later', 'came later']) await stores.erasures.erase(org, user);
      await stores.close();
      for (const end of ['-walks', '-walks-wal']) writeFileSync(`${path}${end}`, 'notes');
      if (how === 'damaged')
        for (const end of ['', '-wal']) writeFileSync(`${path}-activations${end}`, 'damaged');

      const killed = await eachMomentOf(folder, () => restore());
      const stateIn = async (place: string) => {
        const url = `sqlite:${join(place, 'shop.db')}`;
        const restored = await open.stores(url, COMMAND_OPTIONS, clock);
        const { transactions, versions, ...rest } = await everything(restored, org);
        const erasures = await open.database(url).all('SELECT digest, erased_at FROM erasures ORDER BY 1');
        // Ignore updatedAt: repeating a restore that had already finished gives the rows another stamp.
        const rows = [...transactions, ...versions].map(({ document }) => ({
          ...JSON.parse(document),
          updatedAt: '',
        }));
        return { ...rest, erasures, rows };
      };
      const undisturbed = await stateIn(folder);
      expect(undisturbed.tokens[0]?.revokedAtMs).toBe(nowMs);
      expect(undisturbed.erasures).toHaveLength(2);
      expect(undisturbed.clicks.map(({ passbackUid }) => passbackUid)).toEqual([null]);
      expect(killed.length).toBeGreaterThan(3);
      expect(killed.filter((place) => !existsSync(join(place, 'shop.db')))).toEqual([]);
      for (const place of killed) {
        const url = `sqlite:${join(place, 'shop.db')}`;
        const source = join(place, 'backup');
        await restore({ url, source });
        expect(await stateIn(place)).toEqual(undisturbed);
      }
    });
  });
});

for (const database of DATABASES) {
  describe(`restored databases on ${database.name}`, () => {
    const open = openTestStores();

    async function scene() {
      const opened = await open.scene(database, START_MS);
      const raw = open.database(opened.url);
      const auditor = { ...TEST_AUDITOR, clock: opened.clock };
      const begin = (onRows?: (rows: number) => void, restored = raw) =>
        beginTimeline(restored, auditor, { keepsStamps: false, madeAt: null, onRows });
      return { ...opened, raw, begin };
    }

    test('a restored database gives all transactions one new stamp and does not reuse organisation numbers', async () => {
      const { stores, org, clock, begin, pass } = await scene();
      const texts = [transaction(1, { passbackData: '"updatedAt":"x"' }), transaction(2)];
      await importRows(stores, org, texts, clock);
      const before = await readAllTransactions(stores, org.id);
      const nowMs = pass(60_000);
      expect(await begin()).toEqual({ stamped: 2, tokensRevoked: 0, webhooksPaused: 0 });

      const updatedAt = printTimestamp(nowMs + 1);
      const after = await readAllTransactions(stores, org.id);
      expect(after.map(({ document }) => JSON.parse(document))).toEqual(
        before.map(({ document }) => ({ ...JSON.parse(document), updatedAt })),
      );
      const poller = new Poller();
      await poller.poll(stores, org.id);
      expect([poller.received, poller.watermarkMs]).toEqual([2, nowMs + 1]);
      const next = await newOrganisation(stores, 'next');
      expect(next.id).toBeGreaterThan(org.id + 999);
    });

    test('restamping runs in batches with increasing stamps, and can be repeated after an interruption', async () => {
      const { stores, org, raw, begin, pass } = await scene();
      const firstMs = await writeTransactions(stores, org.id, newIds(5_001));
      const nowMs = pass(60_000);
      const stamps = () =>
        raw.all<{ stamp: number; rows: number }>(
          'SELECT updated_at AS stamp, count(*) AS rows FROM transactions GROUP BY updated_at ORDER BY updated_at',
        );
      await interrupted(begin);
      expect(await stamps()).toEqual([
        { stamp: firstMs, rows: 1 },
        { stamp: nowMs + 1, rows: 5_000 },
      ]);
      const actions = async () => (await stores.audit.list({ limit: 9 })).map(({ action }) => action);
      expect(await actions()).toEqual(['database restore begun', 'organisation created']);

      const shown: number[] = [];
      const report = { stamped: 5_001, tokensRevoked: 0, webhooksPaused: 0 };
      expect(await begin((rows) => shown.push(rows))).toEqual(report);
      expect(shown).toEqual([5_000, 5_001]);
      expect(await stamps()).toEqual([
        { stamp: nowMs + 2, rows: 5_000 },
        { stamp: nowMs + 3, rows: 1 },
      ]);
      expect(await stores.audit.list({ limit: 2 })).toMatchObject([
        { action: 'database restored', details: { madeAt: null, ...report } },
        { action: 'database restore begun', details: { madeAt: null, stamped: 0 } },
      ]);
      const poller = new Poller();
      await poller.poll(stores, org.id);
      expect(poller.watermarkMs).toBe(nowMs + 3);
    });

    test('restamping keeps the later stamp of a transaction that an import changes at the same time', async () => {
      const { url, stores, org, raw, clock, begin } = await scene();
      const ids = newIds(5_002);
      const firstMs = await writeTransactions(stores, org.id, ids);
      const importer = await open.stores(url, COMMAND_OPTIONS, clock);
      let imported: Promise<number> | undefined;
      // The callback is synchronous and cannot wait for the import, so let the second batch wait for it.
      const write = raw.write.bind(raw);
      const paused = {
        ...raw,
        write: async <T>(...args: Parameters<typeof write<T>>) => {
          await imported;
          return write<T>(...args);
        },
      };
      const onRows = () => {
        imported ??= writeTransactions(importer, org.id, ids.slice(-1), 'imported');
      };
      expect(await begin(onRows, paused)).toEqual({ stamped: 5_001, tokensRevoked: 0, webhooksPaused: 0 });
      const rows = await raw.all<{ id: string; updated_at: number }>(
        'SELECT id, updated_at FROM transactions WHERE updated_at > $1 ORDER BY updated_at',
        firstMs + 1,
      );
      expect(rows).toEqual([
        { id: ids.at(-1) ?? '', updated_at: (await imported) ?? 0 },
        { id: ids.at(-2) ?? '', updated_at: ((await imported) ?? 0) + 1 },
      ]);
    });
  });
}

/**
 * Copies the folder before each change to its directory entries: the state that a process killed at that moment leaves behind.
 */
async function eachMomentOf(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const original = { ...fs };
  const root = temporaryFolder();
  const moments: string[] = [];
  const names = ['mkdtempSync', 'renameSync', 'linkSync', 'rmSync'] as const;
  const watched = names.map((name) => [
    name,
    (...args: unknown[]) => {
      const moment = join(root, `${moments.length}`);
      original.cpSync(folder, moment, { recursive: true });
      moments.push(moment);
      return (original[name] as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  await mock.module('node:fs', () => ({ ...original, ...Object.fromEntries(watched) }));
  try {
    await work();
  } finally {
    await mock.module('node:fs', () => original);
  }
  return moments;
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}
