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

export type SaleGroups = ReturnType<typeof saleGroups>;

/** `laterWins`: among versions that cannot be ordered, the one that was added last is the newest. */
export function saleGroups(laterWins: boolean) {
  const groups = new Map<string, SaleGroup>();

  function groupOf(saleId: string, place: FeedPlace): SaleGroup {
    return groups.getOrInsertComputed(saleId, () => {
      return { place, parts: new Map(), conflicts: new Set(), isInvalid: false };
    });
  }

  return {
    get saleIds(): string[] {
      return [...groups.keys()];
    },

    add(part: SalePart, place: FeedPlace): void {
      const { parts, conflicts } = groupOf(part.saleId, place);
      const before = parts.get(part.partId);
      if (before === undefined || before.version < part.version || laterWins) {
        parts.set(part.partId, part);
        conflicts.delete(part.partId);
      } else if (before.version === part.version && !Bun.deepEquals(before, part)) conflicts.add(part.partId);
    },

    /** Adds a part, unless its sale already has a part with this id. */
    addEarlier(part: SalePart, place: FeedPlace): void {
      const { parts } = groupOf(part.saleId, place);
      if (!parts.has(part.partId)) parts.set(part.partId, part);
    },

    /** Excludes a sale that has an invalid part. */
    markInvalid(saleId: string, place: FeedPlace): void {
      groupOf(saleId, place).isInvalid = true;
    },

    /** The parts of all groups. */
    *parts(): Generator<SalePart> {
      for (const { parts } of groups.values()) yield* parts.values();
    },

    /** Yields the groups without invalid parts, and removes each group from memory. */
    *takeValid() {
      for (const [saleId, { parts, place, conflicts, isInvalid }] of groups) {
        groups.delete(saleId);
        const problems = Array.from(conflicts, (partId) => ({ field: `row ${partId}`, reason: CONFLICT }));
        const [first, ...others] = parts.values();
        if (first !== undefined && !isInvalid) yield { place, parts: [first, ...others] as const, problems };
      }
    },
  };
}
