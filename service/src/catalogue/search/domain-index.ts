// Finds the retailers whose site has a hostname.

import type { DomainData } from '../snapshot-data.ts';
import { TextColumn } from '../tables/text-column.ts';

export class DomainIndex {
  readonly #names: TextColumn;
  readonly #owners: Uint32Array;

  constructor({ names, owners }: DomainData) {
    this.#names = new TextColumn(names);
    this.#owners = owners;
  }

  /** Returns the retailers with the longest domain that is the hostname or one of its parent domains, ascending. */
  find(hostname: string): readonly number[] {
    for (let begin = 0; begin >= 0; begin = nextLabel(hostname, begin)) {
      const found = this.#names.rangeOf(hostname.slice(begin));
      if (found.begin < found.end) return [...this.#owners.subarray(found.begin, found.end)];
    }
    return [];
  }
}

/** Returns the position of the next label; −1 if there is none. */
function nextLabel(hostname: string, begin: number): number {
  const dot = hostname.indexOf('.', begin);
  return dot < 0 ? -1 : dot + 1;
}
