// The pause between a follower's walks: none while there is a backlog, short after changes, and doubling while nothing
// changes.

/** Pause after a walk that found changes, because more are likely soon. */
const BUSY_MS = 1_000;

export interface Walk {
  readonly pages: number;
  readonly items: number;
}

/** Returns the pause after a walk, given the previous pause; at most `intervalMs`. */
export function restMs(walk: Walk, lastRestMs: number, intervalMs: number): number {
  if (walk.pages > 1) return 0;
  const wantedMs = walk.items > 0 ? BUSY_MS : Math.max(BUSY_MS, lastRestMs * 2);
  return Math.min(wantedMs, intervalMs);
}
