// Reproducible random numbers: the same seed and names give the same numbers on every machine.

const NAMESPACE = '5d0c1a52-0b0e-4c5a-9f43-7f0ffe2b00c5';

export class Random {
  #state: number;

  /** The parts identify a decision, so that adding a decision does not change the random numbers for existing decisions. */
  constructor(...parts: readonly (string | number)[]) {
    this.#state = Bun.hash.xxHash32(parts.join('/'));
  }

  /** Uniform in [0, 1), by mulberry32. */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(min: number, max: number): number {
    return min + this.unit() * (max - min);
  }

  /** Uniform integer from min to max, inclusive. */
  whole(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** Log-uniform: most values are near min, a few near max, like order values and waiting times. */
  logBetween(min: number, max: number): number {
    return Math.exp(this.between(Math.log(min), Math.log(max)));
  }

  /** Poisson-distributed count with this mean. */
  poisson(expected: number): number {
    // Above 500, exp(-expected) approaches underflow. The sum of two counts with half the mean has the same distribution.
    if (expected > 500) return this.poisson(expected / 2) + this.poisson(expected / 2);
    const limit = Math.exp(-expected);
    let count = 0;
    for (let product = this.unit(); product > limit; product *= this.unit()) count++;
    return count;
  }

  pick<T>(items: readonly T[]): T {
    return this.pickSkewed(items, 1);
  }

  /** A skew above 1 picks earlier items more often; 1 is uniform. */
  pickSkewed<T>(items: readonly T[], skew: number): T {
    const item = items[Math.floor(this.unit() ** skew * items.length)];
    if (item === undefined) throw new Error('cannot pick from an empty list');
    return item;
  }

  pickWeighted<T extends { readonly weight: number }>(items: readonly T[]): T {
    let rest = this.unit() * items.reduce((sum, { weight }) => sum + weight, 0);
    for (const item of items) {
      rest -= item.weight;
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

/** Deterministic UUID (version 5) for these parts. */
export function namedUuid(...parts: readonly (string | number)[]): string {
  return Bun.randomUUIDv5(parts.join('/'), NAMESPACE);
}
