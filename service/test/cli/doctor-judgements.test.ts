// How doctor rates each finding, tested without a database or a machine in that state.

import { describe, expect, test } from 'bun:test';
import { type CheckState, worstOf } from '../../src/cli/doctor/check.ts';
import { checkDisk, checkOpenFiles } from '../../src/cli/doctor/check-machine.ts';
import { judgeDatabase, judgeSchema } from '../../src/cli/doctor/judge-database.ts';
import { judgeImports, judgeWriteLock } from '../../src/cli/doctor/judge-imports.ts';
import { judgeProxies } from '../../src/cli/doctor/judge-proxies.ts';
import { judgeTokens } from '../../src/cli/doctor/judge-tokens.ts';
import { readServeSettings } from '../../src/config.ts';
import type { AccessToken } from '../../src/domain/access-token.ts';
import type { ImportEntry, ImportFeed } from '../../src/domain/import-log.ts';
import type { FailoverFacts, PostgresFacts } from '../../src/storage/database.ts';
import type { DatabaseFacts } from '../../src/storage/inspect-database.ts';
import { temporaryFolder } from '../support/databases.ts';
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
  const statesOf = (facts: DatabaseFacts) =>
    Object.fromEntries(judgeDatabase(facts, NOW_MS).map(({ check, state }) => [check, state]));
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

  test.each([
    [-2_500, "2.5 s ahead of the database's clock"],
    [2_500, "2.5 s behind the database's clock"],
    [-61_000, "61.0 s ahead of the database's clock"],
    [61_000, "61.0 s behind the database's clock"],
  ])(
    "the rating states how far this machine's clock differs if the PostgreSQL clock is %p ms ahead",
    (clockAheadMs, found) => {
      const checks = judgeDatabase({ ...FACTS, postgres: { ...POSTGRES, clockAheadMs } }, NOW_MS);
      expect(checks.find(({ check }) => check === 'clock')?.found).toBe(found);
    },
  );

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
    const states = ['none', 'old', 'current', 'too new'] as const;
    const judged = states.map((state) => judgeSchema({ state, version: 6, known: 7 }));
    expect(judged.map(({ state }) => state)).toEqual(['fault', 'warning', 'ok', 'fault']);
    expect(judged.filter(({ advice }) => advice === undefined).map(({ found }) => found)).toEqual([
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
    judgeImports(feeds, NOW_MS, 2 * DAY_MS).map(({ check, state, found }) => [check, state, found]);

  test('imports older than the configured limit are rated as a warning, except for links', () => {
    const lateMs = NOW_MS - 2 * DAY_MS - 1;
    const feeds = [
      feed({ kind: 'catalogue', lastSuccessMs: lateMs, lastEndedMs: lateMs }),
      feed({ kind: 'links', lastSuccessMs: NOW_MS - 400 * DAY_MS }),
    ];
    expect(judged(feeds)).toEqual([
      ['import of catalogue', 'warning', 'succeeded 2 days ago, at 2026-11-12T11:59:59.999'],
      ['import of links', 'ok', 'succeeded 400 days ago, at 2025-10-10T12:00:00'],
      ['import of transactions', 'warning', 'none has succeeded yet'],
    ]);
    expect(judged([])[1]).toEqual(['import of links', 'ok', 'none yet']);
  });

  test('imports are rated separately for each organisation and source', () => {
    const feeds = [
      feed({ orgName: 'acme', source: 'awin' }),
      feed({ orgName: 'acme', source: 'cj', lastSuccessMs: NOW_MS - 3 * DAY_MS }),
      feed({ orgName: 'other', lastSuccessMs: NOW_MS - 2 * DAY_MS }),
    ];
    expect(judged(feeds).slice(2)).toEqual([
      [
        'import of transactions of "acme" from "awin"',
        'ok',
        'succeeded 24 hours ago, at 2026-11-13T12:00:00',
      ],
      [
        'import of transactions of "acme" from "cj"',
        'warning',
        'succeeded 3 days ago, at 2026-11-11T12:00:00',
      ],
      ['import of transactions of "other"', 'ok', 'succeeded 2 days ago, at 2026-11-12T12:00:00'],
    ]);
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
      ['import of catalogue', 'warning', `none has succeeded yet; the last one was refused ${ended}`],
      ['import of links', 'warning', `${success}; the last one was stopped by an error ${ended}`],
      ['import of transactions', 'warning', `${success}; the last one was refused ${ended}`],
    ]);
    expect(judgeImports(feeds, NOW_MS, DAY_MS).map(({ advice }) => advice)).toEqual(
      ['catalogue', 'links', 'transactions'].map(
        (kind) => `find the reason with: offerbook imports list --kind ${kind}`,
      ),
    );
  });

  test('an import that has held the write lock for a minute or was killed is rated as a warning', () => {
    const open = (beganAtMs: number, orgName: string | null = 'acme') =>
      ({ id: 12, kind: 'transactions', orgName, by: 'job@host', beganAtMs }) as ImportEntry;
    const lock = (isHeld: boolean | undefined, ...openImports: ImportEntry[]) => {
      const { state, found, advice } = judgeWriteLock({ isHeld, openImports }, NOW_MS);
      return [state, found, advice];
    };
    expect(lock(false)).toEqual(['ok', 'free', undefined]);
    expect(lock(undefined)).toEqual(['ok', 'unknown; no import is running', undefined]);
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
    expect(lock(undefined, long)[1]).toBe(`unknown: ${words('11:58:59.999')}`);
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
      const [, found, words] = judged([feed({ kind: 'catalogue', lastSuccessMs: NOW_MS - ageMs })])[0] ?? [];
      expect([found, words?.split(' ago')[0]]).toEqual([state, `succeeded ${age}`] as never);
    },
  );

  const token = (number: number, with_: Partial<AccessToken> = {}): AccessToken => ({
    id: id(number),
    orgId: 1,
    orgName: 'acme',
    kind: 'public',
    label: 'a label',
    digest: '',
    createdAtMs: 0,
    expiresAtMs: null,
    overlapEndsAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...with_,
  });

  test('tokens are rated as a warning if no token is valid or a token expires soon, and ok otherwise', () => {
    const gone = token(1, { expiresAtMs: NOW_MS - 1 });
    const expiring = token(2, { expiresAtMs: NOW_MS + 13 * DAY_MS });
    const rotated = token(3, { expiresAtMs: NOW_MS + DAY_MS, overlapEndsAtMs: NOW_MS + DAY_MS });
    expect(judgeTokens([gone], NOW_MS).state).toBe('warning');
    expect(judgeTokens([gone, token(4), expiring, rotated], NOW_MS)).toMatchObject({
      state: 'warning',
      found: `1 token will expire within 14 days: ${id(2)} of "acme"`,
    });
    expect(judgeTokens([gone, token(4), rotated], NOW_MS).state).toBe('ok');
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
  expect(judgeProxies(readServeSettings(settings, {})).state).toBe(state as CheckState);
});

test('rates the limit on open files and the free disk space', () => {
  const limits = (soft: string) =>
    `Limit  Soft Limit  Hard Limit\nMax open files            ${soft}   1048576  files\n`;
  expect(['1024', '4096', 'unlimited', ''].map((soft) => checkOpenFiles(soft && limits(soft)).state)).toEqual(
    ['warning', 'ok', 'ok', 'ok'],
  );
  const folder = temporaryFolder();
  expect(checkDisk('disk', `${folder}/none`, {}).state).toBe('fault');
  expect(checkDisk('disk', folder, { neededBytes: Number.MAX_SAFE_INTEGER }).state).toBe('warning');
  expect(checkDisk('disk', folder, { reserveMegabytes: 1e12 })).toMatchObject({
    state: 'fault',
    advice: 'free some disk space: clicks are not recorded below 1000000000000 MB (--disk-reserve)',
  });
});

test('the overall rating is that of the worst check', () => {
  const of = (...states: ('ok' | 'warning' | 'fault')[]) =>
    worstOf(states.map((state) => ({ check: '', state, found: '' })));
  expect([of(), of('ok'), of('warning', 'ok'), of('ok', 'fault', 'warning')]).toEqual([
    'ok',
    'ok',
    'warning',
    'fault',
  ]);
});
