// Judges the import log, the write lock and the tokens: how fresh each feed is and how its last import ended, which
// import holds the write lock, which tokens are about to expire. Pure.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { type AccessToken, isExpiring, isLive } from '../../domain/access-token.ts';
import type { ImportEntry, ImportFeed, ImportKind } from '../../domain/books.ts';
import { IMPORT_KINDS } from '../../domain/books.ts';
import type { WriteLockFacts } from '../../storage/inspect-database.ts';
import { type Check, ok, warning } from './check.ts';

const HOUR_MS = 3_600_000;
/** Links change when the operator changes them. */
const KINDS_WITH_AGE: readonly ImportKind[] = ['catalogue', 'transactions'];

export function judgeImports(feeds: readonly ImportFeed[], nowMs: number, ageMaxMs: number): Check[] {
  return IMPORT_KINDS.flatMap((kind) => {
    const ofKind = feeds.filter((feed) => feed.kind === kind);
    if (ofKind.length > 0) return ofKind.map((feed) => judgeFeed(feed, nowMs, ageMaxMs));
    return KINDS_WITH_AGE.includes(kind)
      ? warning(`import of ${kind}`, 'none has succeeded yet', `see offerbook import ${kind} --help`)
      : ok(`import of ${kind}`, 'none yet');
  });
}

function judgeFeed(feed: ImportFeed, nowMs: number, ageMaxMs: number): Check {
  const { kind, orgName, source, lastSuccessMs, lastOutcome, lastEndedMs } = feed;
  const check = [
    `import of ${kind}`,
    ...(orgName === null ? [] : [`of "${orgName}"`]),
    ...(source === null ? [] : [`from "${source}"`]),
  ].join(' ');
  const success =
    lastSuccessMs === null ? 'none has succeeded yet' : `succeeded ${printAgo(lastSuccessMs, nowMs)}`;
  const hasFailed = lastOutcome !== 'done';
  const found = hasFailed
    ? `${success}; the last one was ${WORDS[lastOutcome]} ${printAgo(lastEndedMs, nowMs)}`
    : success;
  const isLate =
    KINDS_WITH_AGE.includes(kind) && (lastSuccessMs === null || nowMs - lastSuccessMs > ageMaxMs);
  return hasFailed || isLate
    ? warning(check, found, `see why with: offerbook imports list --kind ${kind}`)
    : ok(check, found);
}

const WORDS = { refused: 'refused', failed: 'stopped by an error' };

/** Other writers wait this long for the lock and are then refused. */
const LOCK_WAIT_MS = 60_000;

export function judgeWriteLock({ isHeld, openImports }: WriteLockFacts, nowMs: number): Check {
  const check = 'write lock';
  if (openImports.length === 0) {
    if (isHeld === undefined) return ok(check, 'not known; no import is running');
    return ok(check, isHeld ? 'held by a command that is not in the import log, such as a dry run' : 'free');
  }
  const imports = openImports.map((entry) => printOpen(entry, nowMs)).join('; ');
  const isLong = openImports.some(({ beganAtMs }) => nowMs - beganAtMs > LOCK_WAIT_MS);
  if (isHeld === false) {
    if (!isLong) return ok(check, `free; ${imports}`);
    return warning(
      check,
      `free, but ${imports}`,
      'its process was killed, and nothing of it was kept: import again',
    );
  }
  const found = isHeld === true ? `held: ${imports}` : `not known: ${imports}`;
  if (!isLong) return ok(check, found);
  return warning(
    check,
    found,
    'meanwhile other imports, on SQLite also orgs and tokens commands, are refused after a minute; if its input has stalled, end its process: nothing of it is kept',
  );
}

function printOpen({ id, kind, orgName, by, beganAtMs }: ImportEntry, nowMs: number): string {
  const owner = orgName === null ? '' : ` of "${orgName}"`;
  return `import ${id}, ${kind}${owner} by ${by}, began ${printAgo(beganAtMs, nowMs)}, and has not ended`;
}

export function judgeTokens(tokens: readonly AccessToken[], nowMs: number): Check {
  const live = tokens.filter((token) => isLive(token, nowMs));
  if (live.length === 0) {
    return warning(
      'tokens',
      'none is good: nobody can call',
      'issue one with: offerbook tokens issue --org NAME --kind KIND',
    );
  }
  const expiring = live.filter((token) => isExpiring(token, nowMs));
  if (expiring.length > 0) {
    const ids = expiring.map(({ id, orgName }) => `${id} of "${orgName}"`).join(', ');
    return warning(
      'tokens',
      `${printCountOf(expiring.length, 'token')} will expire within 14 days: ${ids}`,
      'rotate with: offerbook tokens rotate ID',
    );
  }
  return ok('tokens', `${printCountOf(live.length, 'token')}, of which none is about to expire`);
}

/** `3 hours ago, at 2026-11-14T09:00:00` */
function printAgo(atMs: number, nowMs: number): string {
  return `${printAge(nowMs - atMs)} ago, at ${printTimestamp(atMs)}`;
}

function printAge(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours >= 2 ? `${hours} hours` : printCountOf(Math.max(0, Math.floor(ms / 60_000)), 'minute');
}
