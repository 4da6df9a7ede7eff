// Collects the parts of sales until all files are read. A repeated part counts once, in its newest version. A sale with an
// invalid part is not converted, because its sum would be wrong.

import type { FeedPlace } from '../convert-run.ts';
import type { SalePart } from '../network.ts';

export const CONFLICT = 'appears twice with different contents, and it is unknown which is newer';

interface SaleGroup {
  /** Position of the first part. */
  readonly place: FeedPlace;
  readonly parts: Map<string, SalePart>;
  /** Ids of parts with different versions that cannot be ordered. */
  readonly conflicts: Set<string>;
  isInvalid: boolean;
}

export class SaleGroups {
  readonly #groups = new Map<string, SaleGroup>();
  readonly #laterWins: boolean;

  /** `laterWins`: among versions that cannot be ordered, the one that was added last is the newest. */
  constructor(laterWins = false) {
    this.#laterWins = laterWins;
  }

  get saleIds(): string[] {
    return [...this.#groups.keys()];
  }

  add(part: SalePart, place: FeedPlace): void {
    const { parts, conflicts } = this.#group(part.saleId, place);
    const before = parts.get(part.partId);
    if (before === undefined || before.version < part.version || this.#laterWins) {
      parts.set(part.partId, part);
      conflicts.delete(part.partId);
    } else if (before.version === part.version && !Bun.deepEquals(before, part)) conflicts.add(part.partId);
  }

  /** Adds a part, unless its sale already has a part with this id. */
  addEarlier(part: SalePart, place: FeedPlace): void {
    const { parts } = this.#group(part.saleId, place);
    if (!parts.has(part.partId)) parts.set(part.partId, part);
  }

  /** Excludes a sale that has an invalid part. */
  markInvalid(saleId: string, place: FeedPlace): void {
    this.#group(saleId, place).isInvalid = true;
  }

  /** The parts of all groups. */
  *parts(): Generator<SalePart> {
    for (const { parts } of this.#groups.values()) yield* parts.values();
  }

  /** Yields the groups without invalid parts, and removes each group from memory. */
  *takeValid() {
    for (const [saleId, { parts, place, conflicts, isInvalid }] of this.#groups) {
      this.#groups.delete(saleId);
      const problems = Array.from(conflicts, (partId) => ({ field: `row ${partId}`, reason: CONFLICT }));
      const [first, ...others] = parts.values();
      if (first !== undefined && !isInvalid) yield { place, parts: [first, ...others] as const, problems };
    }
  }

  #group(saleId: string, place: FeedPlace): SaleGroup {
    const known = this.#groups.get(saleId);
    if (known !== undefined) return known;
    const group: SaleGroup = { place, parts: new Map(), conflicts: new Set(), isInvalid: false };
    this.#groups.set(saleId, group);
    return group;
  }
}
