// Measures a replica's lag: records when the primary reached each WAL position, and compares those positions with the replica's
// position. Memory stays bounded even if the replica stops replaying for weeks.

export const MARKS_MAX = 600;

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
    if (this.#marks.length > MARKS_MAX) joinTwo(this.#marks);
  }

  /** Returns the age of the oldest change that a replica at this position has not replayed. */
  measureMs(replayed: number, nowMs: number): number {
    this.#marks = this.#marks.filter(({ position }) => position > replayed);
    return nowMs - (this.#marks[0]?.atMs ?? nowMs);
  }
}

/**
 * Merges the two neighbouring marks that are closest together relative to their age. The merged mark has the earlier time and
 * the later position, so the lag can be slightly overestimated, but never underestimated.
 */
function joinTwo(marks: Mark[]): void {
  const nowMs = marks.at(-1)?.atMs ?? 0;
  let [best, bestCost] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i + 1 < marks.length; i++) {
    const [{ atMs: firstMs }, { atMs: secondMs }] = [marks[i], marks[i + 1]] as [Mark, Mark];
    const cost = (secondMs - firstMs) / (nowMs - secondMs + 1);
    if (cost < bestCost) [best, bestCost] = [i, cost];
  }
  const [first, second] = [marks[best], marks[best + 1]];
  if (first !== undefined && second !== undefined)
    marks.splice(best, 2, { position: second.position, atMs: first.atMs });
}
