// The overview's warnings for each state of a node and its database.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { HourFigures } from '@offerbook/site/console/node-figures.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { buildConsole } from '../../src/console/console.ts';
import type { NodeView } from '../../src/console/page-context.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { CallerTally } from '../../src/http/caller-tally.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { recordImport } from '../../src/importer/record-import.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { temporaryFolder } from '../support/databases.ts';
import { retailer } from '../support/fixtures.ts';
import { ShownPage, textOf } from './open-console.ts';

const NOW_MS = Date.parse('2026-11-14T12:00:00Z');
const HOUR_MS = 3_600_000;
const CLUSTER = { rivals: [], timeline: 2, isUnsettled: false, restamped: 5 };
const NO_REQUESTS = { requests: 0, refused: 0, failed: 0, p99Ms: 0 };
const MACHINE = { memoryBytes: 1e8, disk: { free: 90e9, size: 100e9 } };

const CALM: NodeView = {
  nowMs: NOW_MS,
  startedAtMs: NOW_MS - HOUR_MS,
  workers: 2,
  hour: {
    fromMs: NOW_MS - HOUR_MS,
    untilMs: NOW_MS,
    all: NO_REQUESTS,
    machine: MACHINE,
    routes: [],
    minutes: [],
  },
  state: {
    isReady: true,
    isDatabaseUsable: true,
    areClicksSpooled: false,
    isClickDiskLow: false,
    routes: new Map(),
    callers: new CallerTally(() => NOW_MS).tallies,
    catalogueRevision: 1,
    catalogueItems: undefined,
    database: undefined,
    replica: undefined,
    pools: undefined,
    cluster: undefined,
    clicks: undefined,
    workers: { ready: 2, restarts: 0 },
  },
};

async function overview(node: NodeView, stores: () => Promise<Stores>): Promise<ShownPage> {
  const console_ = buildConsole({ stores, folder: temporaryFolder() });
  const { status, body } = await console_(new Request('http://localhost/'), node);
  return new ShownPage(String(body), status);
}

function warningsOf(page: ShownPage): string[] {
  return [...page.html.matchAll(/<li[^>]*><p>(.*?)<\/p>/gs)].map(([, words = '']) => textOf(words));
}

describe('warnings about the node', () => {
  let stores: Stores;

  beforeAll(async () => {
    stores = await openStores(`sqlite:${temporaryFolder()}/calm.db`, CREATE_OPTIONS);
  });

  afterAll(() => stores.close());

  test.each<[string, Partial<NodeView['state']>, RegExp[]]>([
    ['nothing is wrong', {}, []],
    ['it is not ready', { isReady: false }, [/^The node is not ready/]],
    [
      'a worker does not respond',
      { workers: { ready: 1, restarts: 0 } },
      [/^1 of 2 workers does not respond/],
    ],
    ['clicks go to the spool', { areClicksSpooled: true }, [/^Clicks are written to the spool/]],
    ['the replica is not used', { replica: { isUsable: false, lagMs: 9 } }, [/^The replica is not in use/]],
    [
      'an old primary accepts writes',
      { cluster: { ...CLUSTER, rivals: ['a:1', 'b:2'] } },
      [/accept writes: a:1, b:2\./],
    ],
    [
      'a failover is not settled',
      { cluster: { ...CLUSTER, isUnsettled: true } },
      [/^PostgreSQL has failed over/],
    ],
    ['a failover is settled', { cluster: CLUSTER }, []],
    ['the replica is used', { replica: { isUsable: true, lagMs: 9 } }, []],
  ])('when %s', async (_, state, warnings) => {
    const page = await overview({ ...CALM, state: { ...CALM.state, ...state } }, async () => stores);
    expect(warningsOf(page)).toEqual(warnings.map((pattern) => expect.stringMatching(pattern)));
  });

  test('warns when the disk is nearly full', async () => {
    const machine = { memoryBytes: 1e8, disk: { free: 9e9, size: 100e9 } };
    const page = await overview({ ...CALM, hour: { ...CALM.hour, machine } }, async () => stores);
    expect(warningsOf(page)).toEqual([expect.stringMatching(/^The disk .* is nearly full \(9.0 GB left\)/)]);
  });

  test('the plot omits the current minute unless it is the only minute', async () => {
    const minutes = [3, 2, 1].map((ago) => {
      const fromMs = NOW_MS - ago * 60_000;
      return { ...NO_REQUESTS, fromMs, untilMs: fromMs + 60_000, machine: MACHINE };
    });
    const shown = async (some: HourFigures['minutes']) => {
      const page = await overview({ ...CALM, hour: { ...CALM.hour, minutes: some } }, async () => stores);
      return page.table('Requests per minute')?.map(([from]) => from);
    };
    expect(await shown(minutes)).toEqual(['11:57', '11:58']);
    expect(await shown(minutes.slice(2))).toEqual(['11:59']);
  });
});

test('while the database does not respond, the overview shows the node and other pages report the failure', async () => {
  const unreachable = () => Promise.reject(new StorageError('unavailable', 'the database is unreachable'));
  expect(warningsOf(await overview(CALM, unreachable))).toEqual([
    expect.stringMatching(/^The database does not respond: the database is unreachable\./),
  ]);
  const console_ = buildConsole({ stores: unreachable, folder: temporaryFolder() });
  const { status, body } = await console_(new Request('http://localhost/organisations'), CALM);
  expect([status, new ShownPage(String(body), status).title]).toEqual([503, 'The database does not respond']);
});

test.each([
  ['three imports are too few for a usual interval', [2, 1, 0], 99, []],
  ['after three usual intervals the import is not late', [3, 2, 1, 0], 3, []],
  ['after more than three usual intervals the import is late', [3, 2, 1, 0], 3.02, ['awin', 'cj']],
])('catalogue age of two feeds: %s', async (_, importedHoursAgo, hoursSince, late) => {
  let nowMs = NOW_MS;
  const url = `sqlite:${temporaryFolder()}/late.db`;
  const stores = await openStores(url, CREATE_OPTIONS, () => nowMs);
  for (const ago of importedHoursAgo) {
    // One feed directly after the other, which must not count as the usual interval.
    for (const [i, feed] of ['awin', 'cj'].entries()) {
      nowMs = NOW_MS - ago * HOUR_MS + i * 1_000;
      const rows = sourceFrom(JSON.stringify(retailer(1, { name: `As of ${ago}, ${feed}` })), 'rows');
      const origin = { kind: 'catalogue' as const, orgId: null, by: 'test', source: feed };
      await recordImport(stores.imports, { ...origin, fileName: 'rows', version: '1' }, rows, (importId) =>
        importCatalogue(stores.catalogue, rows, { importId }),
      );
    }
  }
  const node = { ...CALM, nowMs: NOW_MS + hoursSince * HOUR_MS };
  const warnings = warningsOf(await overview(node, async () => stores));
  await stores.close();
  expect(warnings.toSorted()).toEqual(
    late.map((feed) => expect.stringMatching(new RegExp(`^The catalogue from ${feed} is older than usual`))),
  );
});
