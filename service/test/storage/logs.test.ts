// The import log, the audit log and the history in the database: what is recorded when, how long it is kept, and what a purge
// leaves.

import { describe, expect, test } from 'bun:test';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ImportOrigin } from '../../src/domain/import-log.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { recordImport } from '../../src/importer/import-report.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { versionOf } from '../../src/storage/schema/schema.ts';
import { DATABASES } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { putDocuments } from '../support/put-documents.ts';
import {
  EVERYTHING,
  idOf,
  importRows,
  interrupted,
  NO_RESULT,
  newIds,
  newOrganisation,
  openTestStores,
  rejection,
  rowsOf,
  TEST_AUDITOR,
  textsOf,
  writeTransactions,
} from './open-test-stores.ts';

describe.each(DATABASES)('import log, history and audit log on $name', (database) => {
  const open = openTestStores();

  const scene = () => open.scene(database, Date.UTC(2026, 10, 14, 12));

  function origin(orgId: number | null): ImportOrigin {
    const kind = orgId === null ? 'catalogue' : 'transactions';
    return { kind, orgId, by: 'me', source: null, fileName: 'a.csv', version: '0.1.0' };
  }

  const feedsOf = async (stores: Stores) =>
    (await stores.imports.totals()).feeds.map(
      ({ kind, orgName, source, lastSuccessMs, lastOutcome, lastEndedMs }) =>
        [kind, orgName, source, lastSuccessMs, lastOutcome, lastEndedMs] as const,
    );

  const outcomes = async (stores: Stores) =>
    (await stores.imports.list({ limit: 100 })).map(({ id, outcome }) => [id, outcome]);

  test('a failed import is logged as failed with its reason, and writes nothing', async () => {
    const { stores, org, pass, clock } = await scene();
    const failing = recordImport(stores.imports, origin(org.id), sourceFrom(''), async (importId) => {
      await stores.transactions.write(
        org.id,
        async (writer) => {
          const [id] = newIds(1);
          await putDocuments(writer, [{ id: id ?? idOf(1), document: '{}' }]);
          pass(3_000);
          throw new Error('the disk is on fire');
        },
        importId,
      );
      throw new Error('not reached');
    });
    expect((await rejection(failing)).message).toBe('the disk is on fire');
    expect(await stores.imports.list({ limit: 1 })).toEqual([
      {
        ...origin(org.id),
        id: 1,
        orgName: 'acme',
        beganAtMs: clock() - 3_000,
        endedAtMs: clock(),
        outcome: 'failed',
        ...NO_RESULT,
        reason: 'the disk is on fire',
      },
    ]);
    const query = { orgId: org.id, cursor: undefined, window: EVERYTHING, limit: 10 };
    expect(textsOf(await stores.transactions.page(query))).toEqual([]);
  });

  test('an import closes only the open entries of earlier imports with the same kind and organisation', async () => {
    const { stores, org } = await scene();
    const other = await newOrganisation(stores, 'other');
    for (const orgId of [org.id, other.id, null, org.id]) await stores.imports.begin(origin(orgId));
    const mine = await stores.imports.begin(origin(org.id));
    const waiting = await stores.imports.begin(origin(org.id));
    await writeTransactions(stores, org.id, newIds(1), 'v1', mine);
    expect(await outcomes(stores)).toEqual([
      [waiting, 'begun'],
      [mine, 'begun'],
      [4, 'unfinished'],
      [3, 'begun'],
      [2, 'begun'],
      [1, 'unfinished'],
    ]);
  });

  test('an import that was closed as unfinished while it waited corrects its log entry when it ends', async () => {
    const { stores, org } = await scene();
    const [waiting, quicker] = [
      await stores.imports.begin(origin(org.id)),
      await stores.imports.begin(origin(org.id)),
    ];
    await writeTransactions(stores, org.id, newIds(1), 'v1', quicker);
    expect((await outcomes(stores))[1]).toEqual([waiting, 'unfinished']);
    await stores.transactions.write(org.id, (writer) => writer.finishImport(NO_RESULT), waiting);
    expect((await outcomes(stores))[1]).toEqual([waiting, 'done']);
  });

  test('imports are counted by outcome, and the counts survive the deletion of log entries', async () => {
    const { stores, org, pass, clock } = await scene();
    const finish = (id: number) =>
      stores.transactions.write(org.id, (writer) => writer.finishImport(NO_RESULT), id);
    for (const outcome of ['refused', 'failed', 'failed'] as const)
      await stores.imports.close(await stores.imports.begin(origin(org.id)), outcome, NO_RESULT);
    for (let killed = 0; killed < 2; killed++) await stores.imports.begin(origin(org.id));
    for (let done = 0; done < 3; done++) await finish(await stores.imports.begin(origin(org.id)));
    const lastMs = clock();
    await stores.imports.close(await stores.imports.begin(origin(null)), 'refused', NO_RESULT);
    pass(500 * DAY_MS);
    for (let later = 0; later < 2; later++) await stores.imports.begin(origin(null));
    expect(await outcomes(stores)).toHaveLength(2);
    const { counts } = await stores.imports.totals();
    expect(counts.filter(({ count }) => count > 0)).toEqual([
      { kind: 'catalogue', outcome: 'refused', count: 1 },
      { kind: 'transactions', outcome: 'done', count: 3 },
      { kind: 'transactions', outcome: 'refused', count: 1 },
      { kind: 'transactions', outcome: 'failed', count: 2 },
      { kind: 'transactions', outcome: 'unfinished', count: 2 },
    ]);
    // Outcomes with a count of 0 are included, because the first increase of a counter that appears late would go unnoticed.
    expect(counts).toHaveLength(3 * 4);
    expect(await feedsOf(stores)).toEqual([
      ['catalogue', null, null, null, 'refused', lastMs],
      ['transactions', 'acme', null, lastMs, 'done', lastMs],
    ]);
  });

  test('freshness and last outcome are stored separately for each organisation and source', async () => {
    const { stores, org, pass, clock } = await scene();
    const other = await newOrganisation(stores, 'other');
    const begin = (orgId: number, source: string | null) =>
      stores.imports.begin({ ...origin(orgId), source });
    const succeed = async (orgId: number, source: string | null) => {
      const id = await begin(orgId, source);
      await stores.transactions.write(orgId, (writer) => writer.finishImport(NO_RESULT), id);
      return clock();
    };
    const refuse = async (orgId: number, source: string | null) => {
      await stores.imports.close(await begin(orgId, source), 'refused', NO_RESULT);
      return clock();
    };
    const feeds = async () => (await feedsOf(stores)).map(([, ...rest]) => rest);

    const plainMs = await succeed(org.id, null);
    const otherMs = await succeed(other.id, null);
    pass(1_000);
    const awinMs = await succeed(org.id, 'awin');
    pass(1_000);
    const cjMs = await refuse(org.id, 'cj');
    pass(1_000);
    const lateMs = await refuse(org.id, 'awin');
    expect(await feeds()).toEqual([
      ['acme', 'awin', awinMs, 'refused', lateMs],
      ['acme', 'cj', null, 'refused', cjMs],
      ['other', null, otherMs, 'done', otherMs],
    ]);
    // A source without an import for 30 days is dropped. Without any source left, the organisation counts as one feed.
    pass(30 * DAY_MS - 1_000);
    expect(await feeds()).toEqual([
      ['acme', 'awin', awinMs, 'refused', lateMs],
      ['other', null, plainMs, 'done', plainMs],
    ]);
    pass(1_000);
    expect(await feeds()).toEqual([
      ['acme', null, awinMs, 'refused', lateMs],
      ['other', null, plainMs, 'done', plainMs],
    ]);
    await stores.organisations.delete('other', { reloadMs: 0 });
    expect(await feeds()).toEqual([['acme', null, awinMs, 'refused', lateMs]]);
  });

  test('log entries are deleted after 400 days, but never that of an open import', async () => {
    const { stores, org, pass } = await scene();
    const running = await stores.imports.begin(origin(null));
    const enter = async (name: string) => {
      await newOrganisation(stores, name);
      const id = await stores.imports.begin(origin(org.id));
      await stores.imports.close(id, 'failed', NO_RESULT);
      return id;
    };
    const names = async () => (await stores.audit.list({ limit: 9 })).map((entry) => entry.org);
    const first = await enter('first');
    pass(400 * DAY_MS);
    const second = await enter('second');
    pass(1);
    // An entry that becomes too old when this one is written is deleted with the next one.
    const third = await enter('third');
    expect((await outcomes(stores)).map(([id]) => id)).toEqual([third, second, first, running]);
    expect(await names()).toEqual(['third', 'second', 'first', 'acme']);
    const fourth = await enter('fourth');
    expect((await outcomes(stores)).map(([id]) => id)).toEqual([fourth, third, second, running]);
    expect(await names()).toEqual(['fourth', 'third', 'second']);
  });

  test('an entry stamped by a fast clock does not delete other entries or mark running imports as failed', async () => {
    const { stores, org, pass } = await scene();
    const ended = await stores.imports.begin(origin(org.id));
    await stores.imports.close(ended, 'failed', NO_RESULT);
    const underWay = await stores.imports.begin(origin(org.id));
    pass(500 * DAY_MS);
    await newOrganisation(stores, 'ahead');
    const ahead = await stores.imports.begin(origin(null));
    pass(-500 * DAY_MS);
    await newOrganisation(stores, 'right');
    const right = await stores.imports.begin(origin(null));
    await stores.imports.close(underWay, 'failed', NO_RESULT);
    expect((await stores.audit.list({ limit: 9 })).map((entry) => entry.org)).toEqual([
      'right',
      'ahead',
      'acme',
    ]);
    expect(await outcomes(stores)).toEqual([
      [right, 'begun'],
      [ahead, 'begun'],
      [underWay, 'failed'],
      [ended, 'failed'],
    ]);
  });

  test('the audit log records a schema migration and its author, but not the creation of a database', async () => {
    const { url, stores } = await scene();
    const { schema } = open.database(url);
    const next = { ...schema, steps: [...schema.steps, ['CREATE TABLE next_version (id INTEGER)']] };
    for (let round = 0; round < 2; round++) await migrate(open.database(url), TEST_AUDITOR, next);
    const entries = await stores.audit.list({ limit: 9 });
    expect(entries.map(({ by, action, org, details }) => ({ by, action, org, details }))).toEqual([
      {
        by: TEST_AUDITOR.by,
        action: 'schema migrated',
        org: null,
        details: { from: versionOf(schema), to: versionOf(next) },
      },
      { by: 'unknown', action: 'organisation created', org: 'acme', details: {} },
    ]);
  });

  test('the audit log records what an interrupted purge has deleted, and the next purge continues', async () => {
    const { stores, org, pass } = await scene();
    const other = await newOrganisation(stores, 'other');
    const ids = newIds(10_500);
    for (const each of ['v1', 'v2']) {
      pass(DAY_MS);
      await writeTransactions(stores, org.id, ids, each);
    }
    const otherIds = newIds(3);
    for (const each of ['v1', 'v2', 'v3']) await writeTransactions(stores, other.id, otherIds, each);
    pass(DAY_MS);
    // Versions that were replaced at the given time or later remain, and so do the transactions themselves.
    const beforeMs = await writeTransactions(stores, org.id, ids.slice(0, 2), 'v3');
    const versions = async (id: Uuid | undefined) => (await stores.history.versions(id ?? idOf(0))).length;
    const purges = async () =>
      (await stores.audit.list({ limit: 9 }))
        .filter(({ action }) => action === 'history purged')
        .map(({ details }) => details);

    const replacedBefore = printTimestamp(beforeMs);
    await interrupted((interrupt) => stores.history.purge(beforeMs, interrupt));
    expect(await purges()).toEqual([{ versions: 10_000, replacedBefore }]);

    const told: number[] = [];
    expect(await stores.history.purge(beforeMs, (count) => told.push(count))).toBe(506);
    expect(told).toEqual([500, 506]);
    expect(await purges()).toEqual([
      { versions: 506, replacedBefore },
      { versions: 10_000, replacedBefore },
    ]);
    expect([await versions(ids[0]), await versions(ids[2]), await versions(otherIds[0])]).toEqual([2, 1, 1]);
    expect(await stores.history.purge(Number.MIN_SAFE_INTEGER / 2)).toBe(0);
  });

  test('a search finds transactions by their exact passbackUid, whatever characters it contains', async () => {
    const { stores, org, clock } = await scene();
    const uids = ['user-1', 'user-11', 'a "quoted" \\ one', 'Zoë 🛒', '%', '_', '"passbackUid":"user-1"'];
    const rows = uids.map((passbackUid, i) => transaction(i + 1, { passbackUid }));
    rows.push(transaction(99, { passbackUid: null, passbackData: '"passbackUid":"user-1"' }));
    await importRows(stores, org, rows, clock);
    const NONE = { count: 0, newest: [] };
    for (const [i, uid] of uids.entries()) {
      const { count, newest } = await stores.history.findByPassbackUid(uid);
      expect([count, newest.map(({ id }) => id)]).toEqual([1, [rows[i]?.id as Uuid]]);
      expect(await stores.history.findByPassbackUid(uid, { orgId: org.id + 1 })).toEqual(NONE);
    }
    for (const uid of ['user', 'USER-1', "' OR 1=1 --", 'x'.repeat(100_000)])
      expect(await stores.history.findByPassbackUid(uid)).toEqual(NONE);
  });

  test('a walk that begins after an import with preserved stamps does not show the versions that the import replaced', async () => {
    const { stores, org, pass, clock } = await scene();
    const rows = (cashback: number) => [1, 2, 3].map((n) => transaction(n, { cashback }));
    const put = (some: readonly object[], preserveUpdatedAt = false) =>
      importRows(stores, org, some, clock, { preserveUpdatedAt });
    await put(rows(1));
    pass(DAY_MS);
    const updatedAt = printTimestamp(clock() - DAY_MS / 2);
    await put(
      rows(2).map((row) => ({ ...row, updatedAt })),
      true,
    );
    const page = (more: object) =>
      stores.transactions.page({ orgId: org.id, window: EVERYTHING, limit: 1, ...more });
    const first = await page({});
    pass(DAY_MS);
    await put(rows(3));
    const { cursor, completeThroughMs: asOfMs } = first;
    const second = await page({ cursor, asOfMs, limit: 10 });
    const found = [first, second].map((each) => rowsOf(each).map(({ cashback }) => cashback));
    expect(found).toEqual([[2], [2, 2]]);
  });
});
