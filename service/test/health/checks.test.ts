// How the health checks rate facts, tested without a database or a machine in that state.

import { describe, expect, test } from 'bun:test';
import { checkOpenFiles, checkProxies } from '../../src/cli/doctor/check-machine.ts';
import { readServeSettings } from '../../src/config.ts';
import type { AccessToken } from '../../src/domain/access-token.ts';
import type { ImportEntry, ImportFeed } from '../../src/domain/import-log.ts';
import type { PullState } from '../../src/domain/pull.ts';
import type { WebhookStatus } from '../../src/domain/webhook.ts';
import { type CheckState, worstOf } from '../../src/health/check.ts';
import { runChecks } from '../../src/health/checks.ts';
import type { DiskFacts, Facts } from '../../src/health/facts.ts';
import type { ContentFacts, DatabaseFacts } from '../../src/storage/inspect-database.ts';
import type { FailoverFacts } from '../../src/storage/postgres/failovers.ts';
import type { PostgresFacts } from '../../src/storage/postgres/inspect-postgres.ts';
import { id } from '../support/fixtures.ts';

const NOW_MS = Date.UTC(2026, 10, 14, 12);
const DAY_MS = 86_400_000;

const POSTGRES: PostgresFacts = {
  version: 180_001,
  clockAheadMs: 20,
  bytes: 1e9,
  isReadOnly: false,
  unreadable: [],
  unwritable: [],
  notOwned: [],
  walLevel: 'replica',
  archiveMode: 'on',
  isArchiveFailing: false,
  rivals: [],
};

const CONTENTS: ContentFacts = { tokens: [], feeds: [], webhooks: [], pulls: [], openImports: [] };

const judge = (facts: Partial<Facts>) =>
  runChecks({ nowMs: NOW_MS, importAgeMaxMs: 2 * DAY_MS, database: { state: 'usable' }, ...facts });
const verdictOf = (check: string, facts: Partial<Facts>) => {
  const { state, found, advice } = judge(facts).find((each) => each.check === check) ?? {};
  return [state, found, advice];
};

const FACTS: DatabaseFacts = {
  place: 'at db.example',
  schema: { state: 'current', version: 7, known: 7 },
  lastStampMs: NOW_MS - 1,
  contents: undefined,
  clickKey: undefined,
  postgres: POSTGRES,
  files: [],
  failovers: { lastAtMs: null, unsettled: 0, restamping: 0 },
};

describe('rating a database', () => {
  const statesOf = (inspected: DatabaseFacts) => {
    const { postgres, failovers } = inspected;
    const database = { state: 'usable', rivals: postgres?.rivals } as const;
    return Object.fromEntries(
      judge({ inspected, failovers, database }).map(({ check, state }) => [check, state]),
    );
  };
  const fine: Record<string, CheckState> = {
    database: 'ok',
    schema: 'ok',
    rights: 'ok',
    clock: 'ok',
    backup: 'ok',
    failover: 'ok',
  };

  test('a healthy SQLite or PostgreSQL database is rated ok', () => {
    expect(statesOf(FACTS)).toEqual(fine);
    const file = { path: '/a.db', bytes: 1, mode: 0o600, isWritable: true };
    expect(statesOf({ ...FACTS, postgres: undefined, files: [file] })).toEqual(fine);
  });

  test('a failover is a fault until it is settled, and a warning until all transactions have new stamps', () => {
    const failover = (facts: Partial<FailoverFacts>) =>
      statesOf({ ...FACTS, failovers: { lastAtMs: 1, unsettled: 0, restamping: 0, ...facts } }).failover;
    expect([failover({}), failover({ unsettled: 1, restamping: 1 }), failover({ restamping: 2 })]).toEqual([
      'ok',
      'fault',
      'warning',
    ]);
  });

  test.each<[string, Partial<PostgresFacts>, Record<string, CheckState>]>([
    ['an old server', { version: 120_004 }, { database: 'fault' }],
    ['a table without read permission', { unreadable: ['tokens'] }, { rights: 'fault' }],
    ['a standby', { isReadOnly: true }, { rights: 'fault' }],
    ['tables without write permission', { unwritable: ['clicks', 'walks'] }, { rights: 'warning' }],
    ['tables of another owner', { notOwned: ['tokens'] }, { rights: 'warning' }],
    ['a clock that differs by 2.5 seconds', { clockAheadMs: -2_500 }, { clock: 'warning' }],
    ['a clock that differs by two seconds', { clockAheadMs: 2_000 }, {}],
    ['a clock that differs by a minute', { clockAheadMs: 60_000 }, { clock: 'warning' }],
    ['a clock that differs by more than a minute', { clockAheadMs: 61_000 }, { clock: 'fault' }],
    ['no WAL archive', { archiveMode: 'off' }, { backup: 'warning' }],
    ['a WAL level too low for restoring', { walLevel: 'minimal' }, { backup: 'warning' }],
    ['an old primary that accepts writes', { rivals: ['10.0.0.1:5432'] }, { database: 'fault' }],
    ['a failing WAL archive', { isArchiveFailing: true }, { backup: 'fault' }],
    [
      'a disabled WAL archive that failed earlier',
      { archiveMode: 'off', isArchiveFailing: true },
      { backup: 'warning' },
    ],
  ])('PostgreSQL with %s is rated correctly', (_, changes, worse) => {
    expect(statesOf({ ...FACTS, postgres: { ...POSTGRES, ...changes } })).toEqual({ ...fine, ...worse });
  });

  test("the rating states how far this machine's clock is ahead of or behind the PostgreSQL clock", () => {
    const found = (clockAheadMs: number) =>
      verdictOf('clock', { inspected: { ...FACTS, postgres: { ...POSTGRES, clockAheadMs } } })[1];
    expect([-2_500, 2_500, -61_000, 61_000].map(found)).toEqual([
      "2.5 s ahead of the database's clock",
      "2.5 s behind the database's clock",
      "61.0 s ahead of the database's clock",
      "61.0 s behind the database's clock",
    ]);
  });

  test.each<[string, { mode: number; isWritable: boolean }, CheckState]>([
    ['that other users may read', { mode: 0o640, isWritable: true }, 'warning'],
    ['that is not writable', { mode: 0o600, isWritable: false }, 'fault'],
  ])('an SQLite file %s is rated correctly', (_, file, rights) => {
    const files = [{ path: '/a.db', bytes: 1, ...file }];
    expect(statesOf({ ...FACTS, postgres: undefined, files })).toEqual({ ...fine, rights });
  });

  test('a stamp in the future is rated as a warning', () => {
    expect(statesOf({ ...FACTS, lastStampMs: NOW_MS + 3_000 })).toEqual({ ...fine, clock: 'warning' });
  });

  test('every schema state has a rating, with advice for each state that is not current', () => {
    const states = ['none', 'old', 'released', 'current', 'unusable'] as const;
    const judged = states.map((state) =>
      verdictOf('schema', { inspected: { ...FACTS, schema: { state, version: 6, known: 7 } } }),
    );
    expect(judged.map(([state]) => state)).toEqual(['fault', 'warning', 'fault', 'ok', 'fault']);
    expect(judged.filter(([, , advice]) => advice === undefined).map(([, found]) => found)).toEqual([
      'version 6',
    ]);
  });
});

describe('rating imports and tokens', () => {
  const feed = (with_: Partial<ImportFeed>): ImportFeed => ({
    kind: 'transactions',
    orgName: null,
    source: null,
    lastSuccessMs: NOW_MS - DAY_MS,
    lastOutcome: 'done',
    lastEndedMs: NOW_MS - DAY_MS,
    ...with_,
  });
  const judged = (feeds: readonly ImportFeed[]) =>
    ['catalogue', 'links', 'transactions'].map((kind) =>
      verdictOf(`import of ${kind}`, { contents: { ...CONTENTS, feeds } }),
    );
  const advice = (kind: string) => `find the reason with: offerbook imports list --kind ${kind}`;

  test('imports older than the configured limit are rated as a warning, except for links', () => {
    const lateMs = NOW_MS - 2 * DAY_MS - 1;
    const feeds = [
      feed({ kind: 'catalogue', lastSuccessMs: lateMs, lastEndedMs: lateMs }),
      feed({ kind: 'links', lastSuccessMs: NOW_MS - 400 * DAY_MS }),
    ];
    expect(judged(feeds)).toEqual([
      ['warning', 'succeeded 2 days ago, at 2026-11-12T11:59:59.999', advice('catalogue')],
      ['ok', 'succeeded 400 days ago, at 2025-10-10T12:00:00', undefined],
      ['warning', 'none has succeeded yet', 'see offerbook import transactions --help'],
    ]);
    expect(judged([])[1]).toEqual(['ok', 'none yet', undefined]);
  });

  test('a warning lists only the late feeds, at most five of them', () => {
    const late = (source: string) => feed({ orgName: 'acme', source, lastSuccessMs: NOW_MS - 3 * DAY_MS });
    const words = (source: string) =>
      `of "acme" from "${source}" succeeded 3 days ago, at 2026-11-11T12:00:00`;
    const fine = feed({ orgName: 'other', lastSuccessMs: NOW_MS - 2 * DAY_MS });
    expect(judged([fine, late('cj')])[2]).toEqual(['warning', words('cj'), advice('transactions')]);
    expect(judged([fine])[2]?.[1]).toBe('of "other" succeeded 2 days ago, at 2026-11-12T12:00:00');
    expect(judged(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(late))[2]?.[1]).toBe(
      `${['a', 'b', 'c', 'd', 'e'].map(words).join('; ')}; and 2 more`,
    );
  });

  test('a rejected or failed last import, including a links import, is rated as a warning even if the data is fresh', () => {
    const lastEndedMs = NOW_MS - 5 * 60_000;
    const feeds = [
      feed({ kind: 'catalogue', lastSuccessMs: null, lastOutcome: 'refused', lastEndedMs }),
      feed({ kind: 'links', lastOutcome: 'failed', lastEndedMs }),
      feed({ lastOutcome: 'refused', lastEndedMs }),
    ];
    const ended = '5 minutes ago, at 2026-11-14T11:55:00';
    const success = 'succeeded 24 hours ago, at 2026-11-13T12:00:00';
    expect(judged(feeds)).toEqual([
      ['warning', `none has succeeded yet, but the last one was refused ${ended}`, advice('catalogue')],
      ['warning', `${success}, but the last one was stopped by an error ${ended}`, advice('links')],
      ['warning', `${success}, but the last one was refused ${ended}`, advice('transactions')],
    ]);
  });

  test('an import that has held the write lock for a minute or was killed is rated as a warning', () => {
    const open = (beganAtMs: number, orgName: string | null = 'acme') =>
      ({ id: 12, kind: 'transactions', orgName, by: 'job@host', beganAtMs }) as ImportEntry;
    const lock = (isWriteLockHeld: boolean | undefined, ...openImports: ImportEntry[]) =>
      verdictOf('write lock', { contents: { ...CONTENTS, openImports, isWriteLockHeld } });
    expect(lock(false)).toEqual(['ok', 'free', undefined]);
    expect(lock(undefined)).toEqual(['ok', 'no import is running', undefined]);
    expect(lock(true)).toEqual([
      'ok',
      'held by a command that is not in the import log, such as a dry run',
      undefined,
    ]);
    const words = (at: string) =>
      `import 12, transactions of "acme" by job@host, began 1 minute ago, at 2026-11-14T${at} and has not ended`;
    const [brief, long] = [open(NOW_MS - 60_000), open(NOW_MS - 60_001)];
    expect(lock(true, brief)).toEqual(['ok', `held: ${words('11:59:00')}`, undefined]);
    expect(lock(false, brief)).toEqual(['ok', `free; ${words('11:59:00')}`, undefined]);
    expect(lock(true, long)).toEqual([
      'warning',
      `held: ${words('11:58:59.999')}`,
      'until it ends, other imports (on SQLite, also orgs and tokens commands) time out after a minute; if it has stalled, stop its process (nothing has been imported yet)',
    ]);
    expect(lock(undefined, long)[1]).toBe(words('11:58:59.999'));
    expect(lock(false, long)).toEqual([
      'warning',
      `free, but ${words('11:58:59.999')}`,
      'its process was killed and nothing was imported; repeat the import',
    ]);
    expect(lock(true, brief, open(NOW_MS - 35 * 60_000, null))).toEqual([
      'warning',
      `held: ${words('11:59:00')}; import 12, transactions by job@host, began 35 minutes ago, at 2026-11-14T11:25:00 and has not ended`,
      expect.any(String),
    ]);
  });

  test.each([
    [0, 'ok', '0 minutes'],
    [119 * 60_000, 'ok', '119 minutes'],
    [120 * 60_000, 'ok', '2 hours'],
    [2 * DAY_MS - 1, 'ok', '47 hours'],
    [2 * DAY_MS, 'ok', '2 days'],
    [2 * DAY_MS + 1, 'warning', '2 days'],
  ])(
    'an import %p ms ago with a limit of two days is rated %s, and its age is formatted as %s',
    (ageMs, state, age) => {
      const [found, words] = judged([feed({ kind: 'catalogue', lastSuccessMs: NOW_MS - ageMs })])[0] ?? [];
      expect([found, words?.split(' ago')[0]]).toEqual([state, `succeeded ${age}`] as never);
    },
  );

  const token = (number: number, with_: Partial<AccessToken> = {}) =>
    ({
      ...{ id: id(number), orgName: 'acme', kind: 'public' },
      ...{ expiresAtMs: null, overlapEndsAtMs: null, revokedAtMs: null },
      ...with_,
    }) as AccessToken;

  test('tokens are rated as a warning if no token is valid or a token expires soon, and ok otherwise', () => {
    const gone = token(1, { expiresAtMs: NOW_MS - 1 });
    const expiring = token(2, { expiresAtMs: NOW_MS + 13 * DAY_MS });
    const rotated = token(3, { expiresAtMs: NOW_MS + DAY_MS, overlapEndsAtMs: NOW_MS + DAY_MS });
    const judgeTokens = (...tokens: AccessToken[]) =>
      verdictOf('tokens', { contents: { ...CONTENTS, tokens } });
    expect(judgeTokens(gone)[0]).toBe('warning');
    expect(judgeTokens(gone, token(4), expiring, rotated)).toEqual([
      'warning',
      `1 token will expire within 14 days: ${id(2)}, public, of "acme"`,
      `replace it, and the old token stays valid for a day: offerbook tokens rotate ${id(2)}`,
    ]);
    expect(judgeTokens(gone, token(4), rotated)[0]).toBe('ok');
  });

  test('webhooks that fail, lag or were paused automatically are rated as a warning, with one piece of advice for each problem', () => {
    const webhook = (with_: Partial<WebhookStatus>) =>
      ({
        id: id(1),
        orgName: 'acme',
        pausedAtMs: null,
        pausedBy: null,
        failingSinceMs: null,
        behindSinceMs: null,
        lastResult: 'status 500',
        ...with_,
      }) as WebhookStatus;
    const judgeWebhooks = (...webhooks: WebhookStatus[]) =>
      verdictOf('webhooks', { contents: { ...CONTENTS, webhooks } });
    const hourAgoMs = NOW_MS - 3_600_000;
    expect(judgeWebhooks()[0]).toBeUndefined();
    expect(
      judgeWebhooks(
        webhook({ failingSinceMs: hourAgoMs + 1, behindSinceMs: hourAgoMs + 1 }),
        webhook({ pausedAtMs: 1, pausedBy: 'operator', failingSinceMs: 1, behindSinceMs: 1 }),
      ),
    ).toEqual(['ok', '2 webhooks', undefined]);
    expect(
      judgeWebhooks(
        webhook({ failingSinceMs: hourAgoMs, behindSinceMs: hourAgoMs }),
        webhook({ id: id(2), behindSinceMs: hourAgoMs }),
        webhook({ id: id(3), pausedAtMs: 1, pausedBy: 'endpoint' }),
      ),
    ).toEqual([
      'warning',
      `${id(1)} of "acme" failing for 60 minutes: status 500; ${id(2)} of "acme" 60 minutes behind; ${id(3)} of "acme" paused by the endpoint`,
      'no change is lost; ask the partner to repair the endpoint, then run: offerbook webhooks resume ID; check that a server with --webhooks on is running, and that the endpoint is fast enough: offerbook webhooks list; delete it or run: offerbook webhooks resume ID',
    ]);
  });

  test('streams that fail or are late are rated as a warning', () => {
    const stream = (with_: Partial<PullState>) =>
      ({
        source: 'awin:7',
        stream: 'sales',
        orgName: 'acme',
        error: null,
        completeThroughMs: NOW_MS,
        everyMs: 600_000,
        ...with_,
      }) as PullState;
    const judgePulls = (...pulls: PullState[]) =>
      verdictOf('pulls', { contents: { ...CONTENTS, pulls } }).slice(0, 2);
    expect(judgePulls()[0]).toBeUndefined();
    const limitMs = NOW_MS - 60 * 60_000;
    expect(
      judgePulls(stream({ completeThroughMs: limitMs }), stream({ stream: 'reread', completeThroughMs: 1 })),
    ).toEqual(['ok', '2 streams up to date']);
    expect(
      judgePulls(
        stream({
          error: 'status 401',
          failedAtMs: NOW_MS - 3_600_000,
          tryingSinceMs: null,
          completeThroughMs: null,
        }),
        stream({ completeThroughMs: limitMs - 1 }),
        stream({ stream: 'catalogue', orgName: null, completeThroughMs: NOW_MS - DAY_MS }),
        stream({ stream: 'never', completeThroughMs: null, tryingSinceMs: limitMs - 1 }),
      ),
    ).toEqual([
      'warning',
      'sales of awin:7 for "acme" has failed since 2026-11-14T11:00:00: status 401; sales of awin:7 for "acme" is complete only through 2026-11-14T10:59:59.999; never of awin:7 for "acme" has never been read',
    ]);
  });
});

describe('rating a server', () => {
  const node = { isReady: true, workers: 2, workersReady: 2 };
  const disk = (with_: Partial<DiskFacts>): DiskFacts => ({
    folder: '/data',
    freeBytes: 9e9,
    neededBytes: 8e9,
    reserveMegabytes: 256,
    ...with_,
  });
  const clicks = (fate: 'recorded' | 'spooled' | 'lost') => ({ clicks: { fate } });
  const SPOOLED = 'clicks are written to the spool, because the database does not accept them';
  const LOST = 'clicks are lost: neither the database nor the spool accepts them';
  const NOT_READY = 'not ready: load balancers send it no requests';
  test.each<[string, Partial<Facts>, CheckState, string]>([
    ['node', { node }, 'ok', 'ready'],
    ['node', { node: { ...node, isReady: false } }, 'fault', NOT_READY],
    ['workers', { node: { ...node, workersReady: 1 } }, 'warning', '1 of 2 ready'],
    ['database', {}, 'ok', 'usable'],
    ['database', { database: { state: 'unreachable', reason: 'gone' } }, 'fault', 'gone'],
    ['database', { database: { state: 'corrupt', reason: 'bad page' } }, 'fault', 'corrupt: bad page'],
    ['replica', { replica: { isUsable: false, found: 'slow' } }, 'warning', 'slow'],
    ['replica', { replica: { isUsable: true, found: 'in use' } }, 'ok', 'in use'],
    ['clicks', clicks('recorded'), 'ok', 'recorded'],
    ['clicks', clicks('spooled'), 'warning', SPOOLED],
    ['clicks', clicks('lost'), 'fault', LOST],
    ['disk', { disks: [disk({})] }, 'ok', '9.0 GB free in /data'],
    ['disk', { disks: [disk({}), disk({ freeBytes: undefined })] }, 'fault', '/data cannot be read'],
    // Too little space for a backup, less than 1 GB, less than the reserve, and a full disk.
    ['disk', { disks: [disk({ neededBytes: 9.1e9 })] }, 'warning', '9.0 GB free in /data'],
    ['disk', { disks: [disk({ freeBytes: 1e9, neededBytes: 0 })] }, 'warning', '1.0 GB free in /data'],
    ['disk', { disks: [disk({ freeBytes: 255e6 })] }, 'fault', '255 MB free in /data'],
    ['disk', { disks: [disk({ freeBytes: 6e7, reserveMegabytes: 0 })] }, 'fault', '60 MB free in /data'],
  ])('the check of the %s rates %j as %s and reports "%s"', (check, facts, state, found) => {
    expect(verdictOf(check, facts)).toEqual([state, found, state === 'ok' ? undefined : expect.any(String)]);
  });
});

test.each([
  ['on this machine', { host: '127.0.0.1' }, 'ok'],
  ['behind a proxy', { host: '0.0.0.0', publicUrl: 'https://api.example', trustedProxies: '10.0.0.1' }, 'ok'],
  ['with X-Forwarded-Proto', { host: '10.0.0.2', trustedProxies: '10.0.0.0/24' }, 'ok'],
  ['open to the network, without TLS', { host: '0.0.0.0' }, 'warning'],
  ['trusting every IPv4 address', { host: '0.0.0.0', trustedProxies: '10.0.0.1,0.0.0.0/0' }, 'warning'],
  ['trusting every IPv6 address', { host: '::', trustedProxies: '::/0' }, 'warning'],
  ['with unencrypted links', { publicUrl: 'http://api.example', trustedProxies: '10.0.0.1' }, 'warning'],
  [
    'without TLS on this machine, by its IPv6 address',
    { publicUrl: 'http://[::1]:8080', trustedProxies: '::1' },
    'ok',
  ],
  ['with all clients at one address', { publicUrl: 'https://api.example' }, 'warning'],
])('the proxy settings of a server are rated: %s', (_, settings, state) => {
  expect(checkProxies(readServeSettings(settings, {})).state).toBe(state as CheckState);
});

test('a low or unknown limit on open files is a warning', () => {
  const states = [1_024, 4_096, undefined].map((max) => checkOpenFiles(max).state);
  expect(states).toEqual(['warning', 'ok', 'ok']);
});

test('the overall rating is that of the worst check', () => {
  const of = (...states: ('ok' | 'warning' | 'fault')[]) =>
    worstOf(states.map((state) => ({ state, found: '' })));
  expect([of(), of('ok'), of('warning', 'ok'), of('ok', 'fault', 'warning')]).toEqual([
    'ok',
    'ok',
    'warning',
    'fault',
  ]);
});
