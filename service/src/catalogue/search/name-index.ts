// Finds the retailers whose folded name contains a text. Every run of one, two or three characters (a gram)
// leads to the retailers that have it in their name; a text can only be in names that have all of its grams.

import type { Pacer } from '../build/pacer.ts';
import { Bitset } from '../tables/bitset.ts';
import { intersection, membersInAll, type NumberSet, NumberSetBuilder } from './number-set.ts';

const GRAM_LENGTH_MAX = 3;
const SHORT_LENGTH_MAX = 100;

export class NameIndex {
  readonly #names: NameTable;
  readonly #retailersByGram: ReadonlyMap<number, NumberSet>;

  private constructor(names: NameTable, retailersByGram: ReadonlyMap<number, NumberSet>) {
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
    return new NameIndex(await NameTable.build(names, pacer), retailersByGram);
  }

  /**
   * All retailers in some sets whose name contains the text, and perhaps others in them whose name does not. Of the grams
   * that few names have, only that of the fewest counts: to look for a retailer in another array would take longer than
   * to compare its name.
   */
  candidates(text: string, among: readonly Bitset[]): NumberSet {
    const bitsets = [...among];
    let fewest: Uint32Array | undefined;
    const length = Math.min(text.length, GRAM_LENGTH_MAX);
    for (let end = length; end <= text.length; end++) {
      const set = this.#retailersByGram.get(gram(text, end - length, end));
      if (set === undefined) return new Uint32Array();
      if (set instanceof Bitset) bitsets.push(set);
      else if (fewest === undefined || set.length < fewest.length) fewest = set;
    }
    return fewest === undefined ? intersection(bitsets, this.#names.count) : membersInAll(fewest, bitsets);
  }

  /** Whether a candidate for the text is one of those whose name contains it. */
  matches(retailer: number, text: string): boolean {
    return text.length <= GRAM_LENGTH_MAX || this.#names.contains(retailer, text);
  }
}

/** The names' characters in one row, to be fetched from memory at once; strings of their own lie three steps away. */
class NameTable {
  readonly #characters: Uint16Array;
  /** By retailer: where its name begins; one more at the end. */
  readonly #begins: Uint32Array;
  /** They are left as they are: comparing is simple here, and would take too long for them. */
  readonly #longNames = new Map<number, string>();

  private constructor(count: number, characterCount: number) {
    this.#characters = new Uint16Array(characterCount);
    this.#begins = new Uint32Array(count + 1);
  }

  static async build(names: readonly string[], pacer: Pacer): Promise<NameTable> {
    const isLong = (name: string) => name.length > SHORT_LENGTH_MAX;
    const table = new NameTable(
      names.length,
      names.reduce((sum, name) => sum + (isLong(name) ? 0 : name.length), 0),
    );
    let end = 0;
    await pacer.repeat(names.length, (number) => {
      const name = names[number] as string;
      if (isLong(name)) table.#longNames.set(number, name);
      else
        for (let index = 0; index < name.length; index++) table.#characters[end++] = name.charCodeAt(index);
      table.#begins[number + 1] = end;
    });
    return table;
  }

  get count(): number {
    return this.#begins.length - 1;
  }

  contains(number: number, text: string): boolean {
    const characters = this.#characters;
    const last = (this.#begins[number + 1] as number) - text.length;
    for (let begin = this.#begins[number] as number; begin <= last; begin++) {
      let index = 0;
      while (index < text.length && characters[begin + index] === text.charCodeAt(index)) index++;
      if (index === text.length) return true;
    }
    return this.#longNames.get(number)?.includes(text) ?? false;
  }
}

/** A gram as a number: 16 bits for each character, after a leading 1 that tells the lengths apart. */
function gram(text: string, begin: number, end: number): number {
  let number = 1;
  for (let index = begin; index < end; index++) number = number * 0x10000 + text.charCodeAt(index);
  return number;
}
