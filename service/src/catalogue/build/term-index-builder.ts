// Gathers which retailers or offers have a term.

import type { TermIndexData } from '../snapshot-data.ts';
import { packNumbers, packTexts } from './shared-memory.ts';

/** Members come in ascending order; one may have a term several times. */
export class TermIndexBuilder {
  readonly #members = new Map<string, number[]>();

  add(term: string, member: number): void {
    const members = this.#members.get(term);
    if (members === undefined) this.#members.set(term, [member]);
    else if (members.at(-1) !== member) members.push(member);
  }

  /** `numbers`: by member, the number that the index is to have for it, if that is another. */
  build(numbers?: Uint32Array): TermIndexData {
    const terms = [...this.#members.keys()].sort();
    const members = terms.map((term) => {
      const list = this.#members.get(term) as number[];
      return numbers === undefined ? list : Uint32Array.from(list, (one) => numbers[one] as number).sort();
    });
    return { terms: packTexts(terms), members: packNumbers(members) };
  }
}
