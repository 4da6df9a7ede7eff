// Finds the retailers whose site has a hostname.

import { firstIndex } from '../../domain/binary-search.ts';
import type { DomainData } from '../snapshot-data.ts';
import { TextColumn } from './text-column.ts';

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
      const owners = this.#ownersOf(hostname.slice(begin));
      if (owners.length > 0) return owners;
    }
    return [];
  }

  #ownersOf(domain: string): number[] {
    const owners: number[] = [];
    const first = firstIndex(this.#names.length, (index) => this.#names.compare(index, domain) >= 0);
    for (let index = first; index < this.#names.length && this.#names.compare(index, domain) === 0; index++)
      owners.push(this.#owners[index] as number);
    return owners;
  }
}

/** Returns the position of the next label; −1 if there is none. */
function nextLabel(hostname: string, begin: number): number {
  const dot = hostname.indexOf('.', begin);
  return dot < 0 ? -1 : dot + 1;
}
