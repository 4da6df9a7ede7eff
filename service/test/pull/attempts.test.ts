// The state of a stream from its first attempt on: when it was tried, since when it has failed, and why.

import { describe, expect, test } from 'bun:test';
import { HOUR_MS } from '@offerbook/wire/time.ts';
import { pullProgress } from '../../src/cli/commands/data/pull-report.ts';
import { lagMs } from '../../src/domain/pull.ts';
import { DATABASES } from '../support/databases.ts';
import { PullTest, START_MS } from './fixture.ts';

const STREAMS = ['amendment', 'transaction', 'validation'];

describe.each(DATABASES)('on $name', (database) => {
  test('all streams of a source are known while its first attempt runs, and since when they fail', async () => {
    await using t = await PullTest.open('awin', database);
    const states = async (...names: (keyof Awaited<ReturnType<typeof t.stores.pulls.list>>[number])[]) =>
      (await t.stores.pulls.list()).map((state) => [state.stream, ...names.map((name) => state[name])]);
    let during: unknown;
    t.network.planned.push(async () => {
      during = await states('attemptMs', 'tryingSinceMs', 'error');
      return new Response('', { status: 401 });
    });
    const error = 'the network answered with status 401; check the credentials';
    const first = await t.pull();
    expect(during).toEqual(STREAMS.map((stream) => [stream, START_MS, START_MS, null]));
    expect(first.map((report) => [report.error, report.failingSinceMs])).toEqual(
      Array(3).fill([error, START_MS]),
    );

    t.nowMs = START_MS + HOUR_MS;
    t.network.planned.push(() => new Response('', { status: 401 }));
    const second = await t.pull();
    expect(second.map(({ failingSinceMs }) => failingSinceMs)).toEqual(Array(3).fill(START_MS));
    expect(await states('attemptMs', 'tryingSinceMs', 'error')).toEqual(
      STREAMS.map((stream) => [stream, START_MS + HOUR_MS, START_MS, error]),
    );
    const lags = (await t.stores.pulls.list()).map((state) => lagMs(state, START_MS + 3 * HOUR_MS));
    expect(lags).toEqual(Array(3).fill(3 * HOUR_MS));

    t.nowMs = START_MS + 2 * HOUR_MS;
    await t.pull();
    const [amendment] = await t.stores.pulls.list();
    expect(amendment).toMatchObject({ tryingSinceMs: null, error: null, attemptMs: START_MS + 2 * HOUR_MS });
  });

  test('an attempt that was killed counts as failed from the next attempt on', async () => {
    await using t = await PullTest.open('awin', database);
    const key = { source: 'awin:77777', orgId: t.org.id, stream: 'validation' };
    await t.stores.pulls.noteAttempt([key]);
    t.nowMs += HOUR_MS;
    await t.stores.pulls.noteAttempt([key]);
    expect(await t.stores.pulls.find(key)).toMatchObject({
      error: 'the process that was pulling ended without a result; it was probably killed',
      ...{ failedAtMs: START_MS, attemptMs: START_MS + HOUR_MS, tryingSinceMs: START_MS },
    });
  });
});

test('progress shows the rows of all sources, and for each source at most one line a minute and none in the first', () => {
  let nowMs = START_MS;
  const shown: number[] = [];
  const lines: string[] = [];
  const progressOf = pullProgress(
    (rows) => shown.push(rows),
    (line) => lines.push(line),
    () => nowMs,
  );
  const [awin, cj] = [progressOf('awin:1'), progressOf('cj:1')];
  for (const second of [0, 59, 60, 61, 119, 120]) {
    nowMs = START_MS + second * 1_000;
    awin(1_000 + second, 'transaction');
  }
  cj(1, 'posting');
  expect(shown).toEqual([1_000, 1_059, 1_060, 1_061, 1_119, 1_120, 1_121]);
  expect(lines).toEqual([
    'awin:1, transaction: 1,060 rows read',
    'awin:1, transaction: 1,120 rows read',
    'cj:1, posting: 1 row read',
  ]);
});
