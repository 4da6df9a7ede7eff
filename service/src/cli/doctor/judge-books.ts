// Judges what the books say: when each kind of import last succeeded, and which tokens are about to expire. Pure.

import { type AccessToken, isExpiring, isLive } from '../../domain/access-token.ts';
import { IMPORT_KINDS, type ImportKind, type ImportTotals } from '../../domain/books.ts';
import { printCountOf } from '../../domain/count.ts';
import { printTimestamp } from '../../domain/timestamp.ts';
import { type Check, ok, warning } from './check.ts';

const HOUR_MS = 3_600_000;
/** Links change when the operator changes them. */
const KINDS_WITH_AGE: readonly ImportKind[] = ['catalogue', 'transactions'];

export function judgeImports(totals: ImportTotals, nowMs: number, ageMaxMs: number): Check[] {
  return IMPORT_KINDS.map((kind) => {
    const check = `import of ${kind}`;
    const atMs = totals.lastSuccesses.find((last) => last.kind === kind)?.atMs;
    const isExpected = KINDS_WITH_AGE.includes(kind);
    if (atMs === undefined) {
      return isExpected
        ? warning(check, 'none has succeeded yet', `see offerbook import ${kind} --help`)
        : ok(check, 'none yet');
    }
    const found = `${printAge(nowMs - atMs)} ago, at ${printTimestamp(atMs)}`;
    if (isExpected && nowMs - atMs > ageMaxMs)
      return warning(check, found, `see why with: offerbook imports list --kind ${kind}`);
    return ok(check, found);
  });
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

function printAge(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours >= 2 ? `${hours} hours` : `${Math.max(0, Math.floor(ms / 60_000))} minutes`;
}
