// Limits the requests in progress, so that slow endpoints do not delay the others. A request that takes longer than PATIENCE_MS
// gives up its place in the small fast group and continues in the large slow group. Endpoints whose last attempt failed start in
// the slow group.

const FAST_MAX = 8;
const SLOW_MAX = 256;
const PATIENCE_MS = 100;

export class SendSlots {
  readonly #fast = new Places(FAST_MAX);
  readonly #slow = new Places(SLOW_MAX);

  async run<T>(isSlow: boolean, work: () => Promise<T>): Promise<T> {
    let places = isSlow ? this.#slow : this.#fast;
    await places.take();
    const timer = setInterval(() => {
      if (places !== this.#fast || !this.#slow.tryTake()) return;
      this.#fast.give();
      places = this.#slow;
      clearInterval(timer);
    }, PATIENCE_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      places.give();
    }
  }
}

class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.tryTake()) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
