// How far a replica is behind: notes where the primary was when, and tells since when the replica is missing something.
// Pure; takes no more memory when a replica stands still for weeks.

export const MARKS_MAX = 600;

/** From this moment on, the primary was ahead of whoever has not come to this position. */
interface Mark {
  readonly position: number;
  readonly atMs: number;
}

export class ReplicaLag {
  /** What the replica has not come to yet, the oldest first. */
  #marks: Mark[] = [];

  get marks(): number {
    return this.#marks.length;
  }

  notePrimary(position: number, atMs: number): void {
    if (position <= (this.#marks.at(-1)?.position ?? 0)) return;
    this.#marks.push({ position, atMs });
    if (this.#marks.length > MARKS_MAX) joinTwo(this.#marks);
  }

  /** How old the oldest thing is that a replica at this position does not have yet. */
  measureMs(replayed: number, nowMs: number): number {
    this.#marks = this.#marks.filter(({ position }) => position > replayed);
    return nowMs - (this.#marks[0]?.atMs ?? nowMs);
  }
}

/**
 * Joins the two neighbours that lie closest together, measured by their age. The joined mark has the earlier moment and
 * the later position, so that the lag seems a little longer than it is, and never shorter.
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
