// Leads from a term to those that have it.

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

  /** Ascending; empty when nobody has the term. */
  members(term: string): Uint32Array {
    const { items, begins } = this.#members;
    const number = firstIndex(this.#terms.length, (index) => this.#terms.compare(index, term) >= 0);
    const isKnown = number < this.#terms.length && this.#terms.compare(number, term) === 0;
    return isKnown ? items.subarray(begins[number], begins[number + 1]) : new Uint32Array();
  }
}
