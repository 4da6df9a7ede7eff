// Measures a replica's lag: records when the primary reached each WAL position, and compares those positions with the replica's
// position. Memory stays bounded even if the replica stops replaying for weeks.

/** One mark per second, so a lag of up to an hour is exact. */
export const MARKS_MAX = 3_600;

/** When the primary reached this WAL position. */
interface Mark {
  readonly position: number;
  readonly atMs: number;
}

export class ReplicaLag {
  /** Positions that the replica has not reached yet, oldest first. */
  #marks: Mark[] = [];

  get marks(): number {
    return this.#marks.length;
  }

  notePrimary(position: number, atMs: number): void {
    if (position <= (this.#marks.at(-1)?.position ?? 0)) return;
    this.#marks.push({ position, atMs });
    if (this.#marks.length <= MARKS_MAX) return;
    // With the earlier time and the later position, the lag can be overestimated, but never underestimated.
    const [oldest, next] = this.#marks.splice(0, 2) as [Mark, Mark];
    this.#marks.unshift({ position: next.position, atMs: oldest.atMs });
  }

  /** Returns the age of the oldest change that a replica at this position has not replayed. */
  measureMs(replayed: number, nowMs: number): number {
    this.#marks = this.#marks.filter(({ position }) => position > replayed);
    return nowMs - (this.#marks[0]?.atMs ?? nowMs);
  }
}
