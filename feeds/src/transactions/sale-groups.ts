// Collects the parts of sales until all files are read. A repeated part counts once; if its versions differ, the newer one
// counts. A sale with an invalid part is not converted, because its sum would be wrong.

import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import type { FeedPlace } from '../convert-run.ts';
import type { SalePart } from '../network.ts';

export interface SaleGroup {
  readonly saleId: string;
  /** Place of the first part. */
  readonly place: FeedPlace;
  readonly parts: readonly [SalePart, ...SalePart[]];
  /** Conflicts between versions of a part. */
  readonly problems: readonly FieldProblem[];
}

export class SaleGroups {
  readonly #groups = new Map<string, GroupState>();

  add(part: SalePart, place: FeedPlace): void {
    const group = this.#group(part.saleId, place);
    const before = group.parts.get(part.partId);
    if (before === undefined || before.version < part.version) {
      group.parts.set(part.partId, part);
      group.conflicts.delete(part.partId);
    } else if (before.version === part.version && !Bun.deepEquals(before, part)) {
      group.conflicts.add(part.partId);
    }
  }

  /** Marks a sale as having an invalid part, so that it is not converted. */
  markInvalid(saleId: string, place: FeedPlace): void {
    this.#group(saleId, place).isInvalid = true;
  }

  /** Yields the groups and removes each from memory. */
  *takeAll(): Generator<SaleGroup> {
    for (const [saleId, { parts, place, conflicts, isInvalid }] of this.#groups) {
      this.#groups.delete(saleId);
      const problems = [...conflicts].map((partId) => ({
        field: `row ${partId}`,
        reason: 'appears twice with different contents, and the newer version is unknown',
      }));
      const [first, ...others] = parts.values();
      // The invalid part has already been reported.
      if (first !== undefined && !isInvalid) yield { saleId, place, parts: [first, ...others], problems };
    }
  }

  /** The parts of all groups. */
  *parts(): Generator<SalePart> {
    for (const { parts } of this.#groups.values()) yield* parts.values();
  }

  #group(saleId: string, place: FeedPlace): GroupState {
    const known = this.#groups.get(saleId);
    if (known !== undefined) return known;
    const group = {
      parts: new Map<string, SalePart>(),
      conflicts: new Set<string>(),
      place,
      isInvalid: false,
    };
    this.#groups.set(saleId, group);
    return group;
  }
}

interface GroupState {
  readonly parts: Map<string, SalePart>;
  readonly conflicts: Set<string>;
  readonly place: FeedPlace;
  isInvalid: boolean;
}
