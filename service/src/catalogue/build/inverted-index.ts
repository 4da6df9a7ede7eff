// Collects which members have which term.

import type { PackedNumbers } from '../snapshot-data.ts';
import { packNumbers } from './shared-memory.ts';

/** Members must be added in ascending order. Adding a term twice for the same member has no effect. */
export class InvertedIndex<Term extends string | number> {
  readonly #members = new Map<Term, number[]>();

  add(term: Term, member: number): void {
    const members = this.#members.get(term);
    if (members === undefined) this.#members.set(term, [member]);
    else if (members[members.length - 1] !== member) members.push(member);
  }

  /** The terms are ascending; strings are compared by UTF-16 code units. */
  build(): { readonly terms: readonly Term[]; readonly members: PackedNumbers } {
    const terms = [...this.#members.keys()].sort((a, b) => (a < b ? -1 : 1));
    return { terms, members: packNumbers(terms.map((term) => this.#members.get(term) as number[])) };
  }
}
