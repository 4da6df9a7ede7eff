// Finds the retailers whose folded name contains a text. Every run of one, two or three characters (a gram) leads
// to the retailers that have it in their name. A text can only be in names that have all of its grams.

import type { SearchData } from '../snapshot-data.ts';
import { TermIndex } from './term-index.ts';
import { TextColumn } from './text-column.ts';

const GRAM_LENGTH_MAX = 3;

/** All grams of a name; one that it has several times comes several times. */
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
   * The text must not be empty. Of those that have the rarest of its grams, the names are compared: to look for them under
   * the other grams would take longer.
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
