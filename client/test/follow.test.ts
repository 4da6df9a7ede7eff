// A follower loses no change, whatever happens to it or to the service. Also tests the pauses between its walks.

import { describe, expect, test } from 'bun:test';
import { CheckpointError, type FollowOptions, MalformedResponseError } from '../src/index.ts';
import {
  failure,
  html,
  id,
  PRIVATE,
  page,
  problem,
  refuseConnection,
  type ScriptedFetch,
  scripted,
} from './support/answers.ts';
import { openClient } from './support/open-client.ts';

type Answer = () => Response;

const T0 = '2026-11-14T12:00:00';
const T1 = '2026-11-14T12:00:01';
const T2 = '2026-11-14T12:00:02.5';

function walked(ids: readonly number[], completeThrough: string, cursor?: number): Answer {
  return () => page(ids, cursor, { 'Complete-Through': completeThrough });
}

/** A stored position inside a walk. */
function inside(completeThrough: string, cursor: number, updatedAtGreaterThan?: string): string {
  return JSON.stringify({ updatedAtGreaterThan, completeThrough, cursor: id(cursor) });
}

/** Follows a script of responses until it ends or the caller stops at a change, and returns what the caller received. */
async function follow(answers: readonly Answer[], options: FollowOptions = {}, stopAt?: number) {
  const stop = new AbortController();
  const end = () => {
    stop.abort();
    return page([]);
  };
  const script = scripted(...answers, ...(options.once ? [] : [end]));
  const { client, clock } = openClient(script, { token: PRIVATE });
  const seen: string[] = [];
  const settings: FollowOptions = {
    onCheckpoint: (checkpoint) => void seen.push(`checkpoint ${checkpoint}`),
    signal: stop.signal,
    ...options,
  };
  for await (const change of client.followTransactions(settings)) {
    const number = Number(change.id.slice(-4));
    if (number === stopAt) break;
    seen.push(String(number));
  }
  return { seen, clock, queries: script.requests.slice(0, answers.length).map(queryOf) };
}

function queryOf({ url }: ScriptedFetch['requests'][number]): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams);
}

describe('checkpoints of a follower', () => {
  test("after the last change of a walk, the checkpoint is the Complete-Through of the walk's first page", async () => {
    const { seen, queries } = await follow([walked([1, 2], T1, 3), walked([3], T2), walked([4], T2)]);
    expect(seen).toEqual([
      '1',
      '2',
      `checkpoint ${inside(T1, 3)}`,
      '3',
      `checkpoint ${T1}`,
      '4',
      `checkpoint ${T2}`,
    ]);
    expect(queries).toEqual([
      { limit: '1000' },
      { limit: '1000', cursor: id(3) },
      { updatedAtGreaterThan: T1, limit: '1000' },
    ]);
  });

  test('the checkpoint is the smallest Complete-Through in the walk, because a later page may come from a lagging replica', async () => {
    const { seen } = await follow([walked([1, 2], T2, 3), walked([3], T1), walked([], T2)]);
    expect(seen).toEqual([
      '1',
      '2',
      `checkpoint ${inside(T2, 3)}`,
      '3',
      `checkpoint ${T1}`,
      `checkpoint ${T2}`,
    ]);
  });

  test('the checkpoint never moves back', async () => {
    const { seen, queries } = await follow([walked([], T0), walked([], T2)], { checkpoint: T1 });
    expect(seen).toEqual([`checkpoint ${T2}`]);
    expect(queries.map(({ updatedAtGreaterThan }) => updatedAtGreaterThan)).toEqual([T1, T1]);
  });

  // The test clock starts at T0.
  test.each([
    ['2030-01-01T00:00:00', T2],
    ['2030-01-01', T2],
    ['2026-11-14T13:00:00.001', '2026-11-14T09:00:00'],
    ['2026-11-14T15:00:00.001Z', '2026-11-14T14:00:00'],
  ])(
    'rejects a checkpoint in the future instead of never receiving any changes: %s',
    async (checkpoint, through) => {
      const error = await failure(follow([walked([], through)], { checkpoint }));
      expect(error).toBeInstanceOf(CheckpointError);
      expect((error as Error).message).toBe(
        `The checkpoint ${checkpoint} is in the future: the service is complete through ${through}. Remove it to start from the beginning.`,
      );
    },
  );

  test.each([
    ['the current time if nothing has changed for days', T0, '2026-11-01T00:00:00'],
    ['an hour ahead because of a fast clock', '2026-11-14T13:00:00', T0],
    ["the service's time if the local clock is behind", '2026-11-14T20:00:01', '2026-11-14T20:00:00'],
  ])('the checkpoint may be %s', async (_, checkpoint, through) => {
    const { queries } = await follow([walked([], through)], { checkpoint });
    expect(queries).toEqual([{ updatedAtGreaterThan: checkpoint, limit: '1000' }]);
  });

  test('the checkpoint may be a Date', async () => {
    const checkpoint = new Date(Date.UTC(2026, 10, 14, 12, 0, 0, 5));
    const { queries } = await follow([walked([], T1)], { checkpoint, limit: 7 });
    expect(queries).toEqual([{ updatedAtGreaterThan: '2026-11-14T12:00:00.005Z', limit: '7' }]);
  });

  test.each(['2026-11-14T14:00:00+02:00', '2026-11-14T10:30:00.0009-01:30', '2026-11-14T12:00:00Z'])(
    'the checkpoint %s moves as soon as the service is complete through a later time',
    async (checkpoint) => {
      const further = `${T0}.001`;
      const { seen, queries } = await follow([walked([1], further), walked([], further)], { checkpoint });
      expect(seen).toEqual(['1', `checkpoint ${further}`]);
      expect(queries.map(({ updatedAtGreaterThan }) => updatedAtGreaterThan)).toEqual([
        `${T0}.000Z`,
        further,
      ]);
    },
  );

  test('the checkpoint moves after a walk without changes, and is only saved again if it has moved', async () => {
    const { seen } = await follow([walked([], T1), walked([], T1), walked([], T2)], { checkpoint: T0 });
    expect(seen).toEqual([`checkpoint ${T1}`, `checkpoint ${T2}`]);
  });

  test.each([1, 3])(
    'the checkpoint does not move if the caller stops at change %p of three',
    async (last) => {
      const { seen } = await follow([walked([1, 2, 3], T1)], {}, last);
      expect(seen).toEqual(['1', '2', '3'].slice(0, last - 1));
    },
  );

  test('the checkpoint is saved before the next walk begins, and the follower stops if saving fails', async () => {
    const keep = () => Promise.reject(new Error('database is read-only'));
    expect(await failure(follow([walked([1], T1)], { onCheckpoint: keep }))).toEqual(
      new Error('database is read-only'),
    );
  });

  test('requesting the next page marks the current page as consumed', async () => {
    const seen: unknown[] = [];
    const { client } = openClient(scripted(walked([1, 2], T1, 3), walked([3], T2)), { token: PRIVATE });
    const follower = client.followTransactions({ once: true, onCheckpoint: (c) => void seen.push(c) });
    for await (const { data, ...rest } of follower.pages())
      seen.push([data.map((change) => change.id), rest]);
    expect(seen).toEqual([
      [[id(1), id(2)], { cursor: id(3), completeThrough: T1, requestId: 'req-1' }],
      inside(T1, 3),
      [[id(3)], { cursor: undefined, completeThrough: T2, requestId: 'req-1' }],
      T1,
    ]);
  });

  test('the follower does not yield a page for a walk without changes', async () => {
    const { client } = openClient(scripted(walked([], T1)), { token: PRIVATE });
    const pages: unknown[] = [];
    for await (const one of client.followTransactions({ once: true }).pages()) pages.push(one);
    expect(pages).toEqual([]);
  });

  test('the follower stops with an error if the Complete-Through header is missing', async () => {
    expect(await failure(follow([() => page([1])]))).toMatchObject({ code: 'no_complete_through' });
  });
});

describe('positions within a walk', () => {
  /** Follows a script of responses with a store, and stops at a change, as if the program had crashed. */
  function run(store: { saved: string | null }, answers: readonly Answer[], crashAt?: number) {
    const load = () => store.saved;
    const save = (checkpoint: string) => {
      store.saved = checkpoint;
    };
    return follow(answers, { store: { load, save }, onCheckpoint: undefined, once: true }, crashAt);
  }

  test('the position is saved, so after a crash the first walk resumes at the first unconsumed page', async () => {
    const store = { saved: null };
    await run(store, [walked([1, 2], T1, 3), walked([3, 4], T2, 5)], 4);
    expect<string | null>(store.saved).toBe(inside(T1, 3));
    const { seen, queries } = await run(store, [walked([3, 4], T2, 5), walked([5], T2), walked([], T2)]);
    expect(seen).toEqual(['3', '4', '5']);
    expect(queries).toEqual([
      { limit: '1000', cursor: id(3) },
      { limit: '1000', cursor: id(5) },
      // Not T2: changes before the position between T1 and T2 were not in this walk.
      { updatedAtGreaterThan: T1, limit: '1000' },
    ]);
    expect<string | null>(store.saved).toBe(T2);
  });

  test('the positions of later walks are saved with the checkpoint that those walks started from', async () => {
    const store = { saved: T0 };
    await run(store, [walked([1], T1, 2), walked([2], T1)], 2);
    expect(store.saved).toBe(inside(T1, 2, T0));
    const { queries } = await run(store, [walked([2], T2), walked([], T2)]);
    expect(queries).toEqual([
      { updatedAtGreaterThan: T0, limit: '1000', cursor: id(2) },
      { updatedAtGreaterThan: T1, limit: '1000' },
    ]);
  });

  test('the checkpoint replaces the position even if the checkpoint has not moved', async () => {
    const store = { saved: T1 };
    await run(store, [walked([1], T1, 2), walked([2], T1)]);
    expect(store.saved).toBe(T1);
  });

  test('the position keeps the smallest Complete-Through of all pages, before and after a crash', async () => {
    const store = { saved: inside(T2, 3) };
    const { queries } = await run(store, [walked([3], T1), walked([], T2)]);
    expect(queries[1]).toEqual({ updatedAtGreaterThan: T1, limit: '1000' });
  });

  test.each([
    ['', 'The checkpoint is empty.'],
    ['  \n', 'The checkpoint is empty.'],
    ['yesterday', '"yesterday" is not a checkpoint: not a timestamp such as 2026-11-14T12:00:00.'],
    [
      '2026-99-14T12:00:00',
      '"2026-99-14T12:00:00" is not a checkpoint: not a timestamp such as 2026-11-14T12:00:00.',
    ],
    ['{}', '"{}" is not a checkpoint: JSON that is not a position inside a walk.'],
    ['{"cursor":', '"{\\"cursor\\":" is not a checkpoint: JSON that is not a position inside a walk.'],
    [`{"completeThrough":"soon","cursor":"${id(1)}"}`, 'not a timestamp such as 2026-11-14T12:00:00'],
    [`{"completeThrough":"${T1}","cursor":"1"}`, 'JSON that is not a position inside a walk'],
    [`{"completeThrough":"${T1}","cursor":"${id(1)}","updatedAtGreaterThan":7}`, 'not a timestamp'],
  ])('the invalid position %j is rejected before a request is sent', async (saved, words) => {
    const error = await failure(run({ saved }, []));
    expect(error).toBeInstanceOf(CheckpointError);
    expect(error).toMatchObject({ code: 'bad_checkpoint', message: expect.stringContaining(words) });
  });
});

describe('the polling interval', () => {
  test('the polling interval is zero during a backlog, grows while idle, and is short again after a change', async () => {
    const idle = walked([], T1);
    const { clock } = await follow(
      [walked([1], T1, 2), walked([2], T1), walked([3], T1), idle, idle, idle, idle, idle, walked([4], T1)],
      { checkpoint: T1, intervalMs: 10_000 },
    );
    expect(clock.slept).toEqual([0, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 1_000]);
  });

  test('the polling interval never exceeds intervalMs', async () => {
    const { clock } = await follow([walked([1], T1), walked([], T1), walked([], T1)], { intervalMs: 300 });
    expect(clock.slept).toEqual([300, 300, 300]);
  });

  test('the polling interval has a minimum, so a follower cannot flood the service', () => {
    const { client } = openClient(scripted(), { token: PRIVATE });
    expect(() => client.followTransactions({ intervalMs: 0 })).toThrow(RangeError);
    expect(() => client.followTransactions({ intervalMs: Number.NaN })).toThrow(RangeError);
  });
});

describe('a follower during an outage', () => {
  test('the follower waits out an outage during a walk and continues the walk where it stopped', async () => {
    const errors: string[] = [];
    const { seen, queries, clock } = await follow(
      [
        walked([1], T1, 2),
        refuseConnection,
        () => problem(503, 'unavailable', { 'Retry-After': '2' }),
        () => problem(500, 'internal'),
        () => html(502),
        () => html(404),
        walked([2], T2),
      ],
      {
        checkpoint: T0,
        onError: (error, retryInMs) => void errors.push(`${(error as Error).name} ${retryInMs}`),
      },
    );
    expect(seen).toEqual(['1', `checkpoint ${inside(T1, 2, T0)}`, '2', `checkpoint ${T1}`]);
    expect(queries.slice(1)).toEqual(
      Array.from({ length: 6 }, () => ({ updatedAtGreaterThan: T0, limit: '1000', cursor: id(2) })),
    );
    expect(errors).toEqual([
      'NetworkError 1000',
      'ApiError 4000',
      'ApiError 4000',
      'OutageError 8000',
      'MalformedResponseError 16000',
    ]);
    expect(clock.slept).toEqual([1_000, 4_000, 4_000, 8_000, 16_000, 0]);
  });

  test('the follower waits out an outage of many hours with one attempt per minute', async () => {
    const answers = [
      walked([1], T1),
      ...Array.from({ length: 500 }, () => refuseConnection),
      walked([2], T2),
    ];
    const { seen, clock } = await follow(answers);
    expect(seen).toEqual(['1', `checkpoint ${T1}`, '2', `checkpoint ${T2}`]);
    expect(clock.slept.slice(-5)).toEqual([60_000, 60_000, 60_000, 60_000, 1_000]);
  });

  test('the follower keeps retrying if the service is unreachable before the first response', async () => {
    expect((await follow([refuseConnection, walked([1], T1)])).seen).toEqual(['1', `checkpoint ${T1}`]);
  });

  test('the follower throws on a first response that is not from Offerbook, because the address is probably wrong', async () => {
    expect(await failure(follow([() => html(404)]))).toBeInstanceOf(MalformedResponseError);
  });
});

describe('aborting a follower', () => {
  test('an abort during a pause ends the iteration without an error', async () => {
    const stop = new AbortController();
    const onCheckpoint = () => stop.abort();
    const { seen } = await follow([walked([1], T1)], { onCheckpoint, signal: stop.signal });
    expect(seen).toEqual(['1']);
  });

  test('an abort during a walk ends the iteration after the current page and saves the position at the end of that page', async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const { client } = openClient(scripted(walked([1, 2], T1, 3)), { token: PRIVATE });
    const onCheckpoint = (checkpoint: string) => void seen.push(checkpoint);
    for await (const change of client.followTransactions({ onCheckpoint, signal: stop.signal })) {
      seen.push(change.id);
      stop.abort();
    }
    expect(seen).toEqual([id(1), id(2), inside(T1, 3)]);
  });
});

describe('the once option', () => {
  test('with the once option, a resumed walk also fetches the changes before its position', async () => {
    const { seen, queries, clock } = await follow([walked([2], T2), walked([1], T2)], {
      checkpoint: inside(T1, 2),
      once: true,
    });
    expect(seen).toEqual(['2', `checkpoint ${T1}`, '1', `checkpoint ${T2}`]);
    expect(queries).toEqual([
      { limit: '1000', cursor: id(2) },
      { updatedAtGreaterThan: T1, limit: '1000' },
    ]);
    expect(clock.slept).toEqual([0]);
  });

  test('with the once option, a follower retries like any other request and then throws', async () => {
    const answers = Array.from({ length: 5 }, () => refuseConnection);
    expect(await failure(follow(answers, { once: true }))).toMatchObject({ code: 'network', attempts: 5 });
  });
});
