// A spool file that another user created, made readable to others, or filled with forged rows. The server rejects the file or
// sets the forged rows aside, and its own clicks still reach the database.

import { Database as SqliteFile } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { databaseName } from '../../src/activation/activation-directory.ts';
import { ClickIds } from '../../src/activation/click-id.ts';
import { clickProblem } from '../../src/activation/click-problem.ts';
import { spoolPath } from '../../src/cli/node/activation.ts';
import { makeBackup } from '../../src/storage/backup/make-backup.ts';
import { openSpool } from '../../src/storage/click-spool.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { recordClick } from '../support/fixture-click.ts';
import { id } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

const AT_MS = Date.UTC(2026, 10, 14, 11);

type Columns = Record<string, string | number | null | Uint8Array>;

const bytesOf = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');

for (const database of DATABASES) {
  test(`valid clicks in a spool reach ${database.name}, and invalid or forged rows are set aside with a reason`, async () => {
    const folder = temporaryFolder();
    await using node = await TestNode.start({
      databaseUrl: await database.create(),
      settings: { spool: folder },
    });
    const { stores, databaseUrl } = node;
    const org = await node.organisation();
    const other = await node.organisation('other');
    const clickIds = new ClickIds(await stores.clickKey());
    const click = await recordClick(stores, org.id, { activatedAtMs: AT_MS, passbackUid: 'anna' });
    await stores.clicks.remove([click]);
    await node.stopNode();
    const path = spoolPath(folder, databaseUrl, databaseName(await stores.clickKey()));
    const spool = openSpool(() => path);
    await spool.put([click]);
    await spool.close();

    const row = (): Columns => ({
      id: clickIds.make(org.id, AT_MS),
      org_id: org.id,
      kind: 'coupons',
      deal_id: bytesOf(id(21)),
      retailer_id: bytesOf(id(1)),
      passback_uid: 'user',
      passback_data: null,
      activated_at: AT_MS,
      clicked_at: null,
      is_tracked: 1,
      has_sale: 0,
    });
    const forgedId = new ClickIds('another key').make(org.id, AT_MS);
    const forged: (readonly [Columns, string])[] = [
      [{ id: forgedId }, "its id was not created with this database's key"],
      [{ id: 'short' }, "its id was not created with this database's key"],
      [{ org_id: other.id }, 'its id belongs to another organisation'],
      [{ activated_at: AT_MS + 1 }, 'its id has a different creation time'],
      [{ activated_at: 2 ** 62 }, 'its id has a different creation time'],
      [{ kind: 'gifts' }, 'its kind is unknown'],
      [{ deal_id: Buffer.from('no UUID') }, 'its deal is not a UUID'],
      [{ retailer_id: Buffer.from('') }, 'its deal is not a UUID'],
      [{ clicked_at: 2 ** 62 }, 'its link was followed at an impossible time'],
      [{ clicked_at: -1 }, 'its link was followed at an impossible time'],
      [{ passback_uid: 'a\0b' }, 'its passbackUid must not contain control characters'],
      [{ passback_data: 'a\nb' }, 'its passbackData must not contain control characters'],
      [{ passback_uid: 'x'.repeat(256) }, 'it is too large'],
      [{ passback_data: 'x'.repeat(30_000_000) }, 'it is too large'],
      [{ kind: 'x'.repeat(1_000) }, 'it is too large'],
    ];
    const file = new SqliteFile(path);
    for (const [columns] of forged) {
      const whole = { ...row(), ...columns };
      const names = Object.keys(whole);
      file.run(`INSERT INTO clicks (${names}) VALUES (${names.map(() => '?')})`, Object.values(whole));
    }
    file.close();

    if (database.name === 'SQLite') {
      const target = join(temporaryFolder(), 'backup');
      const made = await makeBackup({
        url: databaseUrl,
        target,
        spoolPath: () => path,
        isOurs: (spooled, key) => clickProblem(spooled, new ClickIds(key)) === undefined,
        clock: () => AT_MS,
        version: '0',
      });
      expect(made.files.map(({ rows }) => rows.clicks).filter((count) => count !== undefined)).toEqual([1]);
    }

    await using next = await TestNode.start({ databaseUrl, settings: { spool: folder } });
    await next.logged((line) => /moved from the spool/.test(String(line.msg)));
    expect(await next.stores.clicks.list(100)).toEqual([click]);
    const rejected = new SqliteFile(path);
    const reasons = rejected.query('SELECT reason FROM rejected_clicks').values().flat();
    expect(reasons.sort()).toEqual(forged.map(([, reason]) => reason).sort());
    expect(rejected.query('SELECT count(*) FROM clicks').values()).toEqual([[0]]);
    rejected.close();
    const warnings = next.logLines.map((line) => JSON.parse(line) as { level: number; clicks: number });
    const setAside = warnings.filter(({ level }) => level === 40).map(({ clicks }) => clicks);
    expect(setAside.reduce((sum, count) => sum + count, 0)).toBe(forged.length);
    expect(await (await next.get('/readyz')).json()).toEqual({ status: 'ready', database: 'usable' });
  });
}

describe('the server rejects a spool and keeps running', () => {
  /** Starts a server with a spool prepared by the test; returns the reason that it logs. */
  async function refusal(prepare: (path: string) => void | Promise<void>): Promise<string> {
    const folder = temporaryFolder();
    await using node = await TestNode.start({ settings: { spool: folder } });
    await node.stopNode();
    const { databaseUrl, stores } = node;
    const path = spoolPath(folder, databaseUrl, databaseName(await stores.clickKey()));
    const spool = openSpool(() => path);
    await spool.put([]);
    await spool.close();
    await prepare(path);
    await using next = await TestNode.start({ databaseUrl, settings: { spool: folder } });
    const line = await next.logged(({ msg }) => msg === 'the spool cannot be read');
    expect(await (await next.get('/readyz')).json()).toEqual({ status: 'ready', database: 'usable' });
    const { message } = line.err as { message: string };
    return message.replaceAll(path, 'PATH');
  }

  test('rejects a spool that other users can read or write', async () => {
    const reason = 'PATH is accessible to other users; check its clicks, then run: chmod 600 PATH';
    for (const mode of [0o604, 0o602, 0o640, 0o620])
      expect(await refusal((path) => chmodSync(path, mode))).toBe(reason);
  });

  test('rejects a spool that is not a regular file', async () => {
    for (const put of [(path: string) => symlinkSync(`${path}.other`, path), mkdirSync]) {
      const found = await refusal((path) => {
        renameSync(path, `${path}.other`);
        put(path);
      });
      expect(found).toBe('PATH is not a regular file; move it elsewhere');
    }
  });

  test.if(process.getuid?.() === 0)(
    'rejects a spool that belongs to another user, or whose log does',
    async () => {
      const reason = 'belongs to another user, who may have forged clicks; move it elsewhere';
      expect(await refusal((path) => chownSync(path, 65_534, 65_534))).toBe(`PATH ${reason}`);
      // SQLite would read a log file next to the spool.
      for (const end of ['-wal', '-shm']) {
        const log = await refusal(async (path) => {
          await Bun.write(`${path}${end}`, '');
          chmodSync(`${path}${end}`, 0o600);
          chownSync(`${path}${end}`, 65_534, 65_534);
        });
        expect(log).toBe(`PATH${end} ${reason}`);
      }
    },
  );

  test('rejects a spool with a different schema, without reading an endless view', async () => {
    const reason =
      /^PATH is not a spool: it has unexpected tables|^the database at PATH does not have the tables/;
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n';
    for (const sql of [
      `DROP TABLE clicks; CREATE VIEW clicks AS ${endless}`,
      `CREATE VIEW more AS ${endless}`,
      `CREATE TRIGGER forged AFTER DELETE ON clicks BEGIN INSERT INTO clicks SELECT * FROM clicks; END`,
      'ALTER TABLE clicks ADD COLUMN more TEXT',
      'DROP TABLE rejected_clicks',
    ]) {
      const found = await refusal((path) => {
        const file = new SqliteFile(path);
        file.run(sql);
        file.close();
        for (const end of ['-wal', '-shm']) expect(existsSync(`${path}${end}`)).toBe(false);
      });
      expect([sql, found]).toEqual([sql, expect.stringMatching(reason)]);
    }
  });
});
