// Finds the retailers whose folded name contains a text. Every run of one, two or three characters (a gram)
// leads to the retailers that have it in their name; a text can only be in names that have all of its grams.

import { Bitset } from './bitset.ts';
import { byForm, isInAll, type NumberSet, NumberSetBuilder } from './number-set.ts';
import type { Pacer } from './pacer.ts';

const GRAM_LENGTH_MAX = 3;

export class NameIndex {
  readonly #names: readonly string[];
  readonly #retailersByGram: ReadonlyMap<number, NumberSet>;

  private constructor(names: readonly string[], retailersByGram: ReadonlyMap<number, NumberSet>) {
    this.#names = names;
    this.#retailersByGram = retailersByGram;
  }

  /** Takes the folded names by retailer. */
  static async build(names: readonly string[], pacer: Pacer): Promise<NameIndex> {
    const builders = new Map<number, NumberSetBuilder>();
    const add = (gram: number, retailer: number) => {
      let builder = builders.get(gram);
      if (builder === undefined) {
        builder = new NumberSetBuilder(names.length);
        builders.set(gram, builder);
      }
      builder.add(retailer);
    };
    await pacer.repeat(names.length, (retailer) => {
      const name = names[retailer] as string;
      for (let length = 1; length <= GRAM_LENGTH_MAX; length++) {
        for (let end = length; end <= name.length; end++) add(gram(name, end - length, end), retailer);
      }
    });
    const retailersByGram = new Map<number, NumberSet>();
    await pacer.forEach(builders, ([gram, builder]) => retailersByGram.set(gram, builder.build()));
    return new NameIndex(names, retailersByGram);
  }

  /** All retailers whose name contains the text, and perhaps some others. The set is the caller's to change. */
  candidates(text: string): Bitset {
    const sets: NumberSet[] = [];
    for (const gram of gramsOf(text)) {
      const set = this.#retailersByGram.get(gram);
      if (set === undefined) return new Bitset(this.#names.length);
      sets.push(set);
    }
    const { arrays, bitsets } = byForm(sets);
    const [fewest, ...otherArrays] = arrays;
    if (fewest === undefined) return intersection(bitsets, this.#names.length);
    const found = new Bitset(this.#names.length);
    const others = [...bitsets, ...otherArrays];
    for (let index = 0; index < fewest.length; index++) {
      const retailer = fewest[index] as number;
      if (isInAll(others, retailer)) found.add(retailer);
    }
    return found;
  }

  /** Whether a candidate for the text is one of those whose name contains it. */
  matches(retailer: number, text: string): boolean {
    return text.length <= GRAM_LENGTH_MAX || (this.#names[retailer] as string).includes(text);
  }
}

function intersection(bitsets: readonly Bitset[], size: number): Bitset {
  const [first, ...others] = bitsets;
  const result = first?.copy() ?? new Bitset(size);
  for (const other of others) result.intersect(other);
  return result;
}

/** The longest grams of a text. */
function gramsOf(text: string): Set<number> {
  const length = Math.min(text.length, GRAM_LENGTH_MAX);
  const grams = new Set<number>();
  for (let end = length; end <= text.length; end++) grams.add(gram(text, end - length, end));
  return grams;
}

/** A gram as a number: 16 bits for each character, after a leading 1 that tells the lengths apart. */
function gram(text: string, begin: number, end: number): number {
  let number = 1;
  for (let index = begin; index < end; index++) number = number * 0x10000 + text.charCodeAt(index);
  return number;
}
