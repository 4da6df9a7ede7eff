// Inverted index: term → members.

import { firstIndex } from '../../domain/binary-search.ts';
import type { TermIndexData } from '../snapshot-data.ts';
import { TextColumn } from './text-column.ts';

export class TermIndex {
  readonly #terms: TextColumn;
  readonly #members: TermIndexData['members'];

  constructor({ terms, members }: TermIndexData) {
    this.#terms = new TextColumn(terms);
    this.#members = members;
  }

  /** Returns the term's index; undefined if no member has the term. */
  find(term: string): number | undefined {
    const number = firstIndex(this.#terms.length, (index) => this.#terms.compare(index, term) >= 0);
    return number < this.#terms.length && this.#terms.compare(number, term) === 0 ? number : undefined;
  }

  members(term: number): Uint32Array {
    const { items, begins } = this.#members;
    return items.subarray(begins[term], begins[term + 1]);
  }
}
