// Warns about streams of networks that fail or are late. Pure function.

import { printCountOf } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { CATALOGUE, type PullState, REREAD } from '../../domain/pull.ts';
import { type Check, ok, warning } from './check.ts';

const SETTLE_MS = 30 * 60_000;
/** Limit for catalogues, which are read every six hours, and for streams that have been pulled only once. */
const LATE_MS = 24 * 60 * 60_000;

/** Returns no check if nothing has been pulled. */
export function judgePulls(streams: readonly PullState[], nowMs: number): Check[] {
  if (streams.length === 0) return [];
  const failing = streams.filter(({ error }) => error !== null);
  const late = streams.filter((stream) => stream.error === null && isLate(stream, nowMs));
  const checks: Check[] = [];
  if (failing.length > 0)
    checks.push(
      warning(
        'pulls',
        `${printCountOf(failing.length, 'stream')} failing: ${listed(failing, ({ error }) => error ?? '')}`,
        'run: offerbook doctor --source FILE; the next pull continues where the stream stopped',
      ),
    );
  if (late.length > 0)
    checks.push(
      warning(
        'pulls',
        `${printCountOf(late.length, 'stream')} late: ${listed(late, ({ completeThroughMs }) => `complete through ${printTimestamp(completeThroughMs ?? 0)}`)}`,
        'check that offerbook pull is still scheduled',
      ),
    );
  return checks.length > 0 ? checks : [ok('pulls', `${printCountOf(streams.length, 'stream')} up to date`)];
}

/** True if about three runs have been missed. */
function isLate({ stream, completeThroughMs, everyMs }: PullState, nowMs: number): boolean {
  if (stream === REREAD || completeThroughMs === null) return false;
  const runsMs = everyMs === null ? LATE_MS : Math.max(3 * everyMs, SETTLE_MS) + SETTLE_MS;
  const limitMs = stream === CATALOGUE ? Math.max(runsMs, LATE_MS) : runsMs;
  return nowMs - completeThroughMs > limitMs;
}

function listed(streams: readonly PullState[], reason: (stream: PullState) => string): string {
  return streams
    .map((state) => {
      const org = state.orgName === null ? '' : ` of "${state.orgName}"`;
      return `${state.source}, ${state.stream}${org} (${reason(state)})`;
    })
    .join(', ');
}
