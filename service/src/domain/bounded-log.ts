// Limits how many log lines a flood of similar events produces. The next logged line contains the number of suppressed events.

const WINDOW_MS = 10_000;
const LINES_MAX = 10;

type Fields = Readonly<Record<string, unknown>>;

export class BoundedLog {
  readonly #write: (fields: Fields) => void;
  readonly #monotonicMs: () => number;
  #windowEndMs = 0;
  #lines = 0;
  #suppressed = 0;

  constructor(write: (fields: Fields) => void, monotonicMs: () => number = () => performance.now()) {
    this.#write = write;
    this.#monotonicMs = monotonicMs;
  }

  note(fields: Fields): void {
    const nowMs = this.#monotonicMs();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + WINDOW_MS;
      this.#lines = 0;
    }
    if (this.#lines === LINES_MAX) {
      this.#suppressed++;
      return;
    }
    this.#lines++;
    this.#write(this.#suppressed === 0 ? fields : { ...fields, suppressed: this.#suppressed });
    this.#suppressed = 0;
  }
}
