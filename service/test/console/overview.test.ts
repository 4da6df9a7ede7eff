// The overview of a node in a given state.

import { expect, test } from 'bun:test';
import { buildConsole } from '../../src/console/console.ts';
import type { NodeView } from '../../src/console/page-context.ts';
import type { HourFigures } from '../../src/console/recent-hour.ts';
import { StorageError } from '../../src/domain/storage-error.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { closing } from '../../src/storage/open-once.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { temporaryFolder } from '../support/databases.ts';
import { NODE_STATE } from '../support/node-state.ts';
import { ShownPage, textOf } from './open-console.ts';

const NOW_MS = Date.parse('2026-11-14T12:00:00Z');
const HOUR_MS = 3_600_000;
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
  state: { ...NODE_STATE, checks: [{ check: 'database', state: 'ok', found: 'usable' }] },
};

async function overview(node: NodeView, stores: () => Promise<Stores>): Promise<ShownPage> {
  const console_ = buildConsole(stores, { folder: temporaryFolder() });
  const { status, body } = await console_(new Request('http://localhost/'), node);
  return new ShownPage(String(body), status);
}

test('the plot omits the current minute unless it is the only minute', async () => {
  await using stores = closing(await openStores(`sqlite:${temporaryFolder()}/calm.db`, CREATE_OPTIONS));
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

test('while the database does not respond, the overview shows the node and other pages report the failure', async () => {
  const unreachable = () => Promise.reject(new StorageError('unavailable', 'the database is unreachable'));
  const page = await overview(CALM, unreachable);
  expect(textOf(page.html)).toContain('The database does not respond: the database is unreachable.');
  expect(page.facts.Ready).toBe('ready');
  const console_ = buildConsole(unreachable, { folder: temporaryFolder() });
  const { status, body } = await console_(new Request('http://localhost/organisations'), CALM);
  expect([status, new ShownPage(String(body), status).title]).toEqual([503, 'The database does not respond']);
});
