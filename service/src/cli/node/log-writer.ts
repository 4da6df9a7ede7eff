// Writes the log beside the requests: one write at a time, and lines that come meanwhile wait for the next. A log that
// cannot be written costs its lines, never the service: not its requests, its memory or its end.

/** Lines that come within this time are written together: a write for each would take a sixth of a request's time. */
const HOLD_MS = 20;
const HELD_CHARACTERS_MAX = 64 * 1024;
/** Lines that nobody takes are dropped beyond this, so that a reader who stands still does not fill the memory. */
const UNREAD_CHARACTERS_MAX = 8 * 1024 * 1024;

export class LogWriter {
  readonly #writeOut: (lines: string) => Promise<void>;
  #held = '';
  #timer: Timer | undefined;
  /** Settles when nothing is being written. */
  #writing: Promise<void> | undefined;

  constructor(writeOut: (lines: string) => Promise<void>) {
    this.#writeOut = writeOut;
  }

  /** One line, or several. */
  write(lines: string): void {
    if (this.#held.length >= UNREAD_CHARACTERS_MAX) return;
    this.#held += lines;
    if (this.#held.length >= HELD_CHARACTERS_MAX) this.#release();
    else this.#timer ??= setTimeout(() => this.#release(), HOLD_MS);
  }

  /** Waits until everything is written, but not for longer than this. */
  async close(timeoutMs: number): Promise<void> {
    this.#release();
    await Promise.race([this.#writing, Bun.sleep(timeoutMs)]);
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeHeld().finally(() => {
      this.#writing = undefined;
    });
  }

  async #writeHeld(): Promise<void> {
    while (this.#held !== '') {
      const lines = this.#held;
      this.#held = '';
      // The disk is full, or whoever read the log has gone. These lines are lost; later ones may find it otherwise.
      await this.#writeOut(lines).catch(() => {});
    }
  }
}
