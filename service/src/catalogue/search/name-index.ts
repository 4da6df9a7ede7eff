// Finds the retailers whose folded name contains a string. The n-gram index maps every sequence of one to three characters to
// the retailers whose name contains it.

import type { SearchData } from '../snapshot-data.ts';
import { TermIndex } from './term-index.ts';
import { TextColumn } from './text-column.ts';

const GRAM_LENGTH_MAX = 3;

/** All n-grams of a name, with repetitions. */
export function gramsOf(name: string): string[] {
  return [1, 2, GRAM_LENGTH_MAX].flatMap((length) => runsOf(name, length));
}

function runsOf(text: string, length: number): string[] {
  const runs: string[] = [];
  for (let end = length; end <= text.length; end++) runs.push(text.slice(end - length, end));
  return runs;
}

export class NameIndex {
  readonly #names: TextColumn;
  readonly #grams: TermIndex;

  constructor({ names, grams }: SearchData) {
    this.#names = new TextColumn(names);
    this.#grams = new TermIndex(grams);
  }

  /**
   * `text` must not be empty. Checks every retailer that has the rarest n-gram, which is faster than intersecting the lists
   * of all n-grams.
   */
  find(text: string): Uint32Array {
    let fewest: Uint32Array | undefined;
    for (const gram of runsOf(text, Math.min(text.length, GRAM_LENGTH_MAX))) {
      const term = this.#grams.find(gram);
      if (term === undefined) return new Uint32Array();
      const retailers = this.#grams.members(term);
      if (fewest === undefined || retailers.length < fewest.length) fewest = retailers;
    }
    const found = fewest ?? new Uint32Array();
    return text.length <= GRAM_LENGTH_MAX
      ? found
      : found.filter((retailer) => this.#names.contains(retailer, text));
  }
}
