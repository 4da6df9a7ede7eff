// Checks of what the database contains: imports, tokens, webhooks and pulls.

import { printCountOf } from '@offerbook/wire/count.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { isExpiring, isLive } from '../domain/access-token.ts';
import type { ImportEntry, ImportFeed, ImportKind } from '../domain/import-log.ts';
import { CATALOGUE, failingSinceMs, lagMs, type PullState, REREAD } from '../domain/pull.ts';
import type { Webhook } from '../domain/webhook.ts';
import { listed, ok, printAge, printAgo, type Verdict, warning } from './check.ts';
import type { Facts } from './facts.ts';

const OUTCOMES = { refused: 'refused', failed: 'stopped by an error' };

export function imports(kind: ImportKind): (facts: Facts) => Verdict | undefined {
  // Links are imported only when the operator changes them.
  const isScheduled = kind !== 'links';
  return ({ contents, nowMs, importAgeMaxMs }) => {
    if (contents === undefined) return undefined;
    const feeds = contents.feeds.filter((feed) => feed.kind === kind);
    if (feeds.length === 0)
      return isScheduled
        ? warning('none has succeeded yet', `see offerbook import ${kind} --help`)
        : ok('none yet');
    const bad = feeds.filter(
      ({ lastOutcome, lastSuccessMs }) =>
        lastOutcome !== 'done' ||
        (isScheduled && (lastSuccessMs === null || nowMs - lastSuccessMs > importAgeMaxMs)),
    );
    if (bad.length === 0) return ok(listed(feeds, (feed) => printFeed(feed, nowMs)));
    return warning(
      listed(bad, (feed) => printFeed(feed, nowMs)),
      `find the reason with: offerbook imports list --kind ${kind}`,
    );
  };
}

function printFeed(feed: ImportFeed, nowMs: number): string {
  const { orgName, source, lastSuccessMs, lastOutcome, lastEndedMs } = feed;
  const names = [
    ...(orgName === null ? [] : [`of "${orgName}"`]),
    ...(source === null ? [] : [`from "${source}"`]),
  ];
  const success =
    lastSuccessMs === null ? 'none has succeeded yet' : `succeeded ${printAgo(lastSuccessMs, nowMs)}`;
  const last =
    lastOutcome === 'done'
      ? ''
      : `, but the last one was ${OUTCOMES[lastOutcome]} ${printAgo(lastEndedMs, nowMs)}`;
  return [...names, success].join(' ') + last;
}

/** How long other writers wait for the lock before they fail. */
const LOCK_WAIT_MS = MINUTE_MS;

export function writeLock({ contents, nowMs }: Facts): Verdict | undefined {
  if (contents === undefined) return undefined;
  const { openImports, isWriteLockHeld: isHeld } = contents;
  if (openImports.length === 0) {
    if (isHeld === undefined) return ok('no import is running');
    return ok(isHeld ? 'held by a command that is not in the import log, such as a dry run' : 'free');
  }
  const entries = openImports.map((entry) => printOpen(entry, nowMs)).join('; ');
  const isLong = openImports.some(({ beganAtMs }) => nowMs - beganAtMs > LOCK_WAIT_MS);
  const lock = isHeld === undefined ? '' : isHeld ? 'held: ' : 'free; ';
  if (!isLong) return ok(lock + entries);
  if (isHeld === false)
    return warning(
      `free, but ${entries}`,
      'its process was killed and nothing was imported; repeat the import',
    );
  return warning(
    lock + entries,
    'until it ends, other imports (on SQLite, also orgs and tokens commands) time out after a minute; if it has stalled, stop its process (nothing has been imported yet)',
  );
}

function printOpen({ id, kind, orgName, by, beganAtMs }: ImportEntry, nowMs: number): string {
  const owner = orgName === null ? '' : ` of "${orgName}"`;
  return `import ${id}, ${kind}${owner} by ${by}, began ${printAgo(beganAtMs, nowMs)} and has not ended`;
}

export function tokens({ contents, nowMs }: Facts): Verdict | undefined {
  if (contents === undefined) return undefined;
  const live = contents.tokens.filter((token) => isLive(token, nowMs));
  if (live.length === 0)
    return warning(
      'no valid token: all API requests are rejected',
      'issue one with: offerbook tokens issue --org NAME --kind KIND',
    );
  const expiring = live.filter((token) => isExpiring(token, nowMs));
  if (expiring.length === 0)
    return ok(`${printCountOf(live.length, 'valid token')}; none expires within 14 days`);
  return warning(
    `${printCountOf(expiring.length, 'token')} will expire within 14 days: ${listed(expiring, ({ id, kind, orgName }) => `${id}, ${kind}, of "${orgName}"`)}`,
    `replace it, and the old token stays valid for a day: offerbook tokens rotate ${expiring[0]?.id}`,
  );
}

/** Endpoints may fail, or be behind, this long without a warning. */
const WEBHOOK_MAX_MS = HOUR_MS;

export function webhooks({ contents, nowMs }: Facts): Verdict | undefined {
  if (contents === undefined || contents.webhooks.length === 0) return undefined;
  const isLong = (sinceMs: number | null) => sinceMs !== null && nowMs - sinceMs >= WEBHOOK_MAX_MS;
  const age = (sinceMs: number | null) => printAge(nowMs - (sinceMs ?? nowMs));
  const active = contents.webhooks.filter(({ pausedAtMs }) => pausedAtMs === null);
  const failing = active.filter(({ failingSinceMs }) => isLong(failingSinceMs));
  const behind = active.filter((webhook) => isLong(webhook.behindSinceMs) && !failing.includes(webhook));
  const paused = contents.webhooks.filter(({ pausedBy }) => pausedBy !== null && pausedBy !== 'operator');
  return (
    problems(
      [
        [
          failing,
          ({ failingSinceMs, lastResult }) => `failing for ${age(failingSinceMs)}: ${lastResult}`,
          'no change is lost; ask the partner to repair the endpoint, then run: offerbook webhooks resume ID',
        ],
        [
          behind,
          ({ behindSinceMs }) => `${age(behindSinceMs)} behind`,
          'check that a server with --webhooks on is running, and that the endpoint is fast enough: offerbook webhooks list',
        ],
        [
          paused,
          ({ pausedBy }) => `paused by the ${pausedBy}`,
          'delete it or run: offerbook webhooks resume ID',
        ],
      ],
      ({ id, orgName }: Webhook) => `${id} of "${orgName}"`,
    ) ?? ok(printCountOf(contents.webhooks.length, 'webhook'))
  );
}

const SETTLE_MS = 30 * MINUTE_MS;
/** Limit for catalogues, which are read every six hours, and for streams that have been pulled only once. */
const PULL_LATE_MS = DAY_MS;

export function pulls({ contents, nowMs }: Facts): Verdict | undefined {
  if (contents === undefined || contents.pulls.length === 0) return undefined;
  const streams = contents.pulls;
  const failing = streams.filter(({ error }) => error !== null);
  const late = streams.filter((stream) => stream.error === null && isLateStream(stream, nowMs));
  return (
    problems(
      [
        [
          failing,
          (stream) => `has failed since ${printTimestamp(failingSinceMs(stream) ?? nowMs)}: ${stream.error}`,
          'the next pull continues where the stream stopped; find the reason with: offerbook doctor --source FILE',
        ],
        [
          late,
          ({ completeThroughMs }) =>
            completeThroughMs === null
              ? 'has never been read'
              : `is complete only through ${printTimestamp(completeThroughMs)}`,
          'check that offerbook pull is still scheduled',
        ],
      ],
      ({ source, stream, orgName }: PullState) =>
        `${stream} of ${source}${orgName === null ? '' : ` for "${orgName}"`}`,
    ) ?? ok(`${printCountOf(streams.length, 'stream')} up to date`)
  );
}

/** True if about three runs have been missed. */
export function isLateStream(state: PullState, nowMs: number): boolean {
  const { stream, everyMs } = state;
  if (stream === REREAD) return false;
  const runsMs = everyMs === null ? PULL_LATE_MS : Math.max(3 * everyMs, SETTLE_MS) + SETTLE_MS;
  const limitMs = stream === CATALOGUE ? Math.max(runsMs, PULL_LATE_MS) : runsMs;
  return lagMs(state, nowMs) > limitMs;
}

/** A group of items with the same problem, how to describe it, and what to do. */
type Problem<Item> = readonly [items: readonly Item[], describe: (item: Item) => string, advice: string];

/** Returns undefined if all groups are empty. */
function problems<Item>(groups: readonly Problem<Item>[], name: (item: Item) => string): Verdict | undefined {
  const found = groups.filter(([items]) => items.length > 0);
  if (found.length === 0) return undefined;
  return warning(
    found.map(([items, describe]) => listed(items, (item) => `${name(item)} ${describe(item)}`)).join('; '),
    found.map(([, , advice]) => advice).join('; '),
  );
}
