// Clicks while the database is busy or unreachable: users are redirected, and every confirmed click is stored in the end.

import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ClickId } from '../../src/domain/click.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { ActivationNode } from '../support/activation-node.ts';
import { DATABASES, type TestDatabase, temporaryFolder } from '../support/databases.ts';
import { id } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { TestNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';

const NETWORK = 'https://network.example/';

type Scene = Awaited<ReturnType<typeof openScene>>;

async function openScene(
  database: TestDatabase,
  spool: string,
  { adminPort, clickDeadlineMs = 300 }: { adminPort?: number; clickDeadlineMs?: number } = {},
) {
  const databaseUrl = await database.create();
  const app = await ActivationNode.start({
    databaseUrl,
    clock: Date.now,
    clickDeadlineMs,
    settings: { spool, adminPort },
    links: [{ id: id(1), kind: 'retailer', template: `${NETWORK}{click}` }],
  });
  const { node } = app;
  const follow = (user: string, orgId = app.orgId) => app.get(app.coupon({ orgId, passbackUid: user }));
  return {
    node,
    /** Follows a user's link, for the first organisation by default; returns the click id, or the plain URL. */
    click: async (user: string, orgId?: Uuid) =>
      ((await follow(user, orgId)).headers.get('Location') ?? '').replace(NETWORK, ''),
    outcome: async (user: string) => (await follow(user)).headers.get('Offerbook-Click'),
    post: (user: string) => app.send('POST', app.coupon({ passbackUid: user })),
    recorded: async () => (await node.stores.clicks.list(10_000)).map((click) => click.id),
    /** Blocks recording clicks while `work` runs. Stored clicks can be read. */
    async whileBusy<T>(work: () => Promise<T>): Promise<T> {
      const isSqlite = database.name === 'SQLite';
      // The first process that needs the spool creates it.
      await node.stores.clicks.put([]);
      const other = openDatabase(isSqlite ? `${databaseUrl}-activations` : databaseUrl, COMMAND_OPTIONS);
      try {
        return await other.write(async (connection) => {
          if (!isSqlite) await connection.all('LOCK TABLE clicks IN EXCLUSIVE MODE');
          return work();
        });
      } finally {
        await other.close();
      }
    },
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}

async function untilRecorded({ recorded }: Scene, clicks: readonly string[]): Promise<void> {
  const all = await until(recorded, (each) => each.length >= clicks.length);
  expect(all.sort()).toEqual(clicks.toSorted() as never);
}

function spoolBytes(folder: string): Buffer {
  return Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
}

for (const database of DATABASES) {
  describe(`while another process locks ${database.name}`, () => {
    test('users are redirected with a click id, /readyz and the metrics report spooling, and every click is eventually stored once', async () => {
      const adminPort = await freePort();
      const spool = temporaryFolder();
      await using scene = await openScene(database, spool, { adminPort });
      const readyz = async () => (await scene.node.get('/readyz')).json();
      const metrics = async () => {
        const page = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
        return page.split('\n').filter((line) => /^offerbook_clicks_spool/.test(line));
      };
      const clicks = await scene.whileBusy(async () => {
        const first = await scene.click('first');
        const others = await Promise.all(
          Array.from({ length: 100 }, (_, number) => scene.click(`user ${number}`)),
        );
        expect(await readyz()).toMatchObject({ status: 'ready', clicks: 'spooled' });
        expect(await metrics()).toEqual([
          'offerbook_clicks_spooled_total 101',
          'offerbook_clicks_spooling 1',
        ]);
        return [first, ...others];
      });
      expect(clicks.every((click) => /^[0-9A-Za-z]{22}$/.test(click))).toBe(true);
      expect(readdirSync(spool).filter((name) => name.endsWith('.db'))).toEqual([
        expect.stringMatching(/^offerbook-spool-[0-9a-f]{12}\.db$/),
      ]);
      await untilRecorded(scene, clicks);
      await until(readyz, (state) => !('clicks' in (state as object)));
      // No byte of a moved click remains in the spool file or in its log.
      await until(() => !spoolBytes(spool).includes('user 7'));
      const later = await scene.click('later');
      await untilRecorded(scene, [...clicks, later]);
      expect(await metrics()).toEqual(['offerbook_clicks_spooled_total 101', 'offerbook_clicks_spooling 0']);
    });

    test('a click spooled by one worker can be followed on the other workers', async () => {
      const spool = temporaryFolder();
      const clickDeadlineMs = 10;
      await using scene = await openScene(database, spool, { clickDeadlineMs });
      const { databaseUrl } = scene.node;
      await using other = await TestNode.start({ databaseUrl, clickDeadlineMs, settings: { spool } });
      const [path, answer] = await scene.whileBusy(async () => {
        const { url } = (await (await scene.post('anna')).json()) as { url: string };
        const link = new URL(url).pathname;
        return [link, await fetch(other.url + link, { redirect: 'manual' })];
      });
      const [, click = ''] = /^\/go\/(.*)\/$/.exec(path) ?? [];
      expect([answer.status, answer.headers.get('Location')]).toEqual([302, NETWORK + click]);
      await untilRecorded(scene, [click]);
    });

    test('without a usable spool, links redirect to the plain URL and POST gets 503', async () => {
      await using scene = await openScene(database, join(temporaryFolder(), 'missing'));
      const [clicked, posted, outcome] = await scene.whileBusy(() =>
        Promise.all([scene.click('one'), scene.post('two'), scene.outcome('three')]),
      );
      expect([clicked, outcome]).toEqual(['https://www.r1.example/', 'ignored; reason=unavailable']);
      expect(posted.headers.get('Retry-After')).toBe('2');
      expect(await posted.json()).toMatchObject({
        status: 503,
        code: 'unavailable',
        detail: 'The activation could not be recorded. Try again shortly.',
      });
      // The node recovers without a restart, once the database accepts clicks again.
      let number = 0;
      const click = await until(
        () => scene.click(`user ${number++}`),
        (each) => !each.startsWith('https:'),
      );
      expect(await scene.recorded()).toContain(click as ClickId);
      // Failed taps are forgotten, so the same taps are recorded now.
      const again = await scene.click('one');
      expect(await scene.recorded()).toContain(again as ClickId);
      expect((await scene.post('two')).status).toBe(200);
    });
  });
}

test('the next process moves the remaining clicks as soon as the spool is readable, and drops clicks of deleted organisations', async () => {
  const [database] = DATABASES;
  if (database === undefined) throw new Error('no database is configured');
  const folder = temporaryFolder();
  const { databaseUrl, clicks } = await (async () => {
    await using scene = await openScene(database, folder);
    const { stores } = scene.node;
    const leaving = await stores.organisations.create('leaving');
    const { activation } = await stores.revisions();
    await scene.node.logged((line) => line.activation === activation);
    const answered = await scene.whileBusy(async () => {
      const both = await Promise.all([scene.click('one'), scene.click('two')]);
      expect(await scene.click('three', leaving?.publicId)).toMatch(/^[0-9A-Za-z]{22}$/);
      // The process stops before the database has recovered.
      await scene.node.stopNode();
      return both;
    });
    await stores.organisations.delete('leaving', { reloadMs: 0 });
    return { databaseUrl: scene.node.databaseUrl, clicks: answered };
  })();
  const [spool = ''] = readdirSync(folder).map((name) => join(folder, name));
  renameSync(spool, `${spool}.aside`);
  writeFileSync(spool, 'for the moment this is no database');

  await using node = await TestNode.start({ databaseUrl, settings: { spool: folder } });
  await node.logged((line) => line.msg === 'the spool cannot be read');
  renameSync(`${spool}.aside`, spool);
  const moved = await node.logged((line) => /moved from the spool/.test(String(line.msg)));
  expect(moved).toMatchObject({ clicks: 2 });
  const dropped = await node.logged((line) => /dropped from the spool/.test(String(line.msg)));
  expect(dropped).toMatchObject({ level: 40, clicks: 1 });
  expect((await node.stores.clicks.list(10)).map((click) => click.id)).toEqual(clicks.toSorted() as never);
});
