// Limits the requests in progress, so that slow endpoints do not delay the others. A request that takes longer than PATIENCE_MS
// gives up its slot in the small fast group and continues in the large slow group. Endpoints whose last attempt failed start in
// the slow group.

const FAST_MAX = 8;
const SLOW_MAX = 256;
const PATIENCE_MS = 100;

export class SendSlots {
  readonly #fast = new Slots(FAST_MAX);
  readonly #slow = new Slots(SLOW_MAX);

  async run<T>(isSlow: boolean, work: () => Promise<T>): Promise<T> {
    let slots = isSlow ? this.#slow : this.#fast;
    await slots.acquire();
    const timer = setInterval(() => {
      if (slots !== this.#fast || !this.#slow.tryAcquire()) return;
      this.#fast.release();
      slots = this.#slow;
      clearInterval(timer);
    }, PATIENCE_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      slots.release();
    }
  }
}

class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async acquire(): Promise<void> {
    if (this.tryAcquire()) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
