// Chance that can be repeated: the same seed and the same names give the same numbers, on every machine and
// at any time. Nothing in the sandbox asks any other source of chance, tokens excepted.

const NAMESPACE = '5d0c1a52-0b0e-4c5a-9f43-7f0ffe2b00c5';

export class Random {
  #state: number;

  /** The parts name what is being decided, so that one decision more does not change all the others. */
  constructor(...parts: readonly (string | number)[]) {
    this.#state = Bun.hash.xxHash32(parts.join('/'));
  }

  /** From 0, included, to 1, not included (mulberry32). */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(min: number, max: number): number {
    return min + this.unit() * (max - min);
  }

  /** Both ends included. */
  whole(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** Most values near the lower end, a few far up: order values and waiting times are like that. */
  logBetween(min: number, max: number): number {
    return Math.exp(this.between(Math.log(min), Math.log(max)));
  }

  /** How many of many rare things happen, when so many are expected. */
  poisson(expected: number): number {
    // Beyond this the product below would underflow; the sum of two halves is the same thing.
    if (expected > 500) return this.poisson(expected / 2) + this.poisson(expected / 2);
    const limit = Math.exp(-expected);
    let count = 0;
    for (let product = this.unit(); product > limit; product *= this.unit()) count++;
    return count;
  }

  pick<T>(items: readonly T[]): T {
    return this.pickSkewed(items, 1);
  }

  /** The first items are picked more often than the last: the larger the skew, the more so. */
  pickSkewed<T>(items: readonly T[], skew: number): T {
    const item = items[Math.floor(this.unit() ** skew * items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }

  pickWeighted<T>(items: readonly T[], weightOf: (item: T) => number): T {
    let rest = this.unit() * items.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of items) {
      rest -= weightOf(item);
      if (rest < 0) return item;
    }
    return this.pick(items);
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, rank: this.unit() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}

/** An id that the seed and a name decide. */
export function namedUuid(...parts: readonly (string | number)[]): string {
  return Bun.randomUUIDv5(parts.join('/'), NAMESPACE);
}
