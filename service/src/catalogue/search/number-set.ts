// A set of numbers below a known size, in whichever form is smaller: an ascending array for the few, a
// bitset for the many. An index of any number of terms is thereby never larger than a bit for each pair of
// number and common term, plus four bytes for each pair of number and rare term. Loops over typed arrays
// count their indices here and elsewhere in this folder: for…of is several times slower on them.

import { Bitset } from '../tables/bitset.ts';

/** An array of the members is smaller than a bitset when they are fewer than one in so many. */
const SPARSE = 32;

export type NumberSet = Uint32Array | Bitset;

export function isInAll(sets: readonly NumberSet[], member: number): boolean {
  for (const set of sets) if (!has(set, member)) return false;
  return true;
}

function has(set: NumberSet, member: number): boolean {
  return set instanceof Bitset ? set.has(member) : set[firstAtOrAfter(set, member)] === member;
}

/** The index of the first member at or after a number, or the length. */
export function firstAtOrAfter(ascending: Uint32Array, member: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) < member) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Splits sets by form; the arrays come shortest first. */
export function byForm(sets: readonly NumberSet[]): { arrays: Uint32Array[]; bitsets: Bitset[] } {
  return {
    arrays: sets.filter((set) => set instanceof Uint32Array).sort((a, b) => a.length - b.length),
    bitsets: sets.filter((set) => set instanceof Bitset),
  };
}

/** What is in all of the sets, of numbers below `size`; nothing when there is none. */
export function intersection([first, ...others]: readonly Bitset[], size: number): Bitset {
  const common = first?.copy() ?? new Bitset(size);
  for (const other of others) common.intersect(other);
  return common;
}

/** The members of an array that are in all of the sets. To ask `isInAll`, which takes arrays as well, takes a fifth longer. */
export function membersInAll(members: Uint32Array, sets: readonly Bitset[]): Uint32Array {
  const found: number[] = [];
  for (let index = 0; index < members.length; index++) {
    const member = members[index] as number;
    let place = 0;
    while (place < sets.length && (sets[place] as Bitset).has(member)) place++;
    if (place === sets.length) found.push(member);
  }
  return new Uint32Array(found);
}

/** Whether all members are accepted; asks in ascending order and stops at the first that is not. */
export function every(set: NumberSet, accept: (member: number) => boolean): boolean {
  if (set instanceof Bitset) return set.every(accept);
  for (let index = 0; index < set.length; index++) if (!accept(set[index] as number)) return false;
  return true;
}

/** A set of its own, to be changed. */
export function asBitset(set: NumberSet, size: number): Bitset {
  if (set instanceof Bitset) return set.copy();
  const bitset = new Bitset(size);
  for (let index = 0; index < set.length; index++) bitset.add(set[index] as number);
  return bitset;
}

export class NumberSetBuilder {
  readonly #size: number;
  readonly #countMax: number;
  #few: number[] = [];
  #many: Bitset | undefined;

  constructor(size: number) {
    this.#size = size;
    this.#countMax = size / SPARSE;
  }

  /** Members must come in ascending order; one may come several times in a row. */
  add(member: number): void {
    if (this.#many !== undefined) this.#many.add(member);
    else if (this.#few.at(-1) !== member) {
      this.#few.push(member);
      if (this.#few.length > this.#countMax) this.#becomeMany();
    }
  }

  build(): NumberSet {
    return this.#many ?? new Uint32Array(this.#few);
  }

  #becomeMany(): void {
    this.#many = new Bitset(this.#size);
    for (const member of this.#few) this.#many.add(member);
    this.#few = [];
  }
}
