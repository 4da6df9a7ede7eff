// Checks the import log and the write lock: the age of each feed, the outcome of its last import, and which import holds the
// lock. Pure functions.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { ImportEntry, ImportFeed, ImportKind } from '../../domain/import-log.ts';
import { IMPORT_KINDS } from '../../domain/import-log.ts';
import type { WriteLockFacts } from '../../storage/inspect-database.ts';
import { type Check, ok, warning } from './check.ts';

const HOUR_MS = 3_600_000;
/** Links are not in this list, because they are imported only when the operator changes them. */
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
    ? `${success}; the last one was ${OUTCOMES[lastOutcome]} ${printAgo(lastEndedMs, nowMs)}`
    : success;
  const isLate =
    KINDS_WITH_AGE.includes(kind) && (lastSuccessMs === null || nowMs - lastSuccessMs > ageMaxMs);
  return hasFailed || isLate
    ? warning(check, found, `find the reason with: offerbook imports list --kind ${kind}`)
    : ok(check, found);
}

const OUTCOMES = { refused: 'refused', failed: 'stopped by an error' };

/** How long other writers wait for the lock before they fail. */
const LOCK_WAIT_MS = 60_000;

export function judgeWriteLock({ isHeld, openImports }: WriteLockFacts, nowMs: number): Check {
  const check = 'write lock';
  if (openImports.length === 0) {
    if (isHeld === undefined) return ok(check, 'unknown; no import is running');
    return ok(check, isHeld ? 'held by a command that is not in the import log, such as a dry run' : 'free');
  }
  const imports = openImports.map((entry) => printOpen(entry, nowMs)).join('; ');
  const isLong = openImports.some(({ beganAtMs }) => nowMs - beganAtMs > LOCK_WAIT_MS);
  if (isHeld === false) {
    if (!isLong) return ok(check, `free; ${imports}`);
    return warning(
      check,
      `free, but ${imports}`,
      'its process was killed and nothing was imported; repeat the import',
    );
  }
  const found = isHeld === true ? `held: ${imports}` : `unknown: ${imports}`;
  if (!isLong) return ok(check, found);
  return warning(
    check,
    found,
    'until it ends, other imports (on SQLite, also orgs and tokens commands) time out after a minute; if it has stalled, stop its process (nothing has been imported yet)',
  );
}

function printOpen({ id, kind, orgName, by, beganAtMs }: ImportEntry, nowMs: number): string {
  const owner = orgName === null ? '' : ` of "${orgName}"`;
  return `import ${id}, ${kind}${owner} by ${by}, began ${printAgo(beganAtMs, nowMs)} and has not ended`;
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
