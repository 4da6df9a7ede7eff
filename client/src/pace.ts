// How long a follower rests between two walks: not at all while there is a backlog, briefly after changes,
// longer and longer while nothing happens. Pure.

/** After a walk that found something: more is likely to come soon. */
const BUSY_MS = 1_000;

export interface Walk {
  readonly pages: number;
  readonly items: number;
}

/** The pause after a walk, given the one before it; `intervalMs` is the longest. */
export function restMs(walk: Walk, lastRestMs: number, intervalMs: number): number {
  if (walk.pages > 1) return 0;
  const wantedMs = walk.items > 0 ? BUSY_MS : Math.max(BUSY_MS, lastRestMs * 2);
  return Math.min(wantedMs, intervalMs);
}
