// How far a replica is behind: notes where the primary was when, and tells since when the replica is missing something.
// Pure; takes little more memory when a replica stands still for weeks.

/** Into how many parts the lag is divided, at least: it is exact to one of them. */
export const PARTS = 600;

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
    const [first, last] = [this.#marks[0], this.#marks.at(-1)];
    if (position <= (last?.position ?? 0)) return;
    if (first === undefined || last === undefined || atMs - last.atMs >= (atMs - first.atMs) / PARTS) {
      this.#marks.push({ position, atMs });
      return;
    }
    // With the earlier moment, so that the lag seems a little longer than it is, and never shorter.
    this.#marks[this.#marks.length - 1] = { position, atMs: last.atMs };
  }

  /** How old the oldest thing is that a replica at this position does not have yet. */
  measureMs(replayed: number, nowMs: number): number {
    this.#marks = this.#marks.filter(({ position }) => position > replayed);
    return nowMs - (this.#marks[0]?.atMs ?? nowMs);
  }
}
