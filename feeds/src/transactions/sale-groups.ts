// Keeps the rows of sales that come in parts until all files are read. A part that comes twice counts once; where its
// versions differ, the newer one counts. A sale with a part that cannot be read is not printed: its sum would be wrong.

import type { FieldProblem } from '@offerbook/wire/rows/raw-row.ts';
import type { FeedPlace } from '../convert-run.ts';
import type { SalePart } from '../network.ts';

export interface SaleGroup {
  readonly saleId: string;
  /** Of the part that was read first. */
  readonly place: FeedPlace;
  readonly parts: readonly [SalePart, ...SalePart[]];
  /** What is wrong with one of the parts, or between two versions of it. */
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

  /** Notes that a part of a sale is bad, so that the sale is left out. */
  spoil(saleId: string, place: FeedPlace): void {
    this.#group(saleId, place).isSpoilt = true;
  }

  /** The groups, each let go of as it is handed out. */
  *takeAll(): Generator<SaleGroup> {
    for (const [saleId, { parts, place, conflicts, isSpoilt }] of this.#groups) {
      this.#groups.delete(saleId);
      const problems = [...conflicts].map((partId) => ({
        field: `row ${partId}`,
        reason: 'comes in two versions, and nothing tells which is newer',
      }));
      const [first, ...others] = parts.values();
      // The part that spoils a sale has been told of.
      if (first !== undefined && !isSpoilt) yield { saleId, place, parts: [first, ...others], problems };
    }
  }

  /** The parts of every group, to be looked at together. */
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
      isSpoilt: false,
    };
    this.#groups.set(saleId, group);
    return group;
  }
}

interface GroupState {
  readonly parts: Map<string, SalePart>;
  readonly conflicts: Set<string>;
  readonly place: FeedPlace;
  isSpoilt: boolean;
}
