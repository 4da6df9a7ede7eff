// The user's share of a commission: the share of its group, else of its advertiser, else the default.

import { type Amount, multiply, parseAmount, sum, ZERO } from '@offerbook/wire/amount.ts';
import type { Commission } from '../network.ts';
import type { Overlay } from './overlay.ts';
import type { Source } from './source-file.ts';

export class Shares {
  readonly #default: Amount;
  readonly #advertisers: ReadonlyMap<string, Amount>;
  readonly #groups: ReadonlyMap<string, Amount>;

  /** Advertiser shares also come from the overlay, whose parser rejects those that are in both. */
  constructor({ share }: Source, overlay: Overlay) {
    this.#default = toAmount(share.default);
    const ofOverlay = [...overlay].flatMap(([id, { share: own }]) =>
      own === undefined ? [] : [[id, own] as const],
    );
    this.#advertisers = toAmounts([...Object.entries(share.advertisers), ...ofOverlay]);
    this.#groups = toAmounts(Object.entries(share.groups));
  }

  find(advertiserId: string, group?: string): Amount {
    const ofGroup = group === undefined ? undefined : this.#groups.get(group);
    return ofGroup ?? this.#advertisers.get(advertiserId) ?? this.#default;
  }

  /** The user's share of a sale's commissions, not rounded. */
  apply(advertiserId: string, commissions: readonly Commission[]): Amount {
    return sum(commissions.map(({ amount, group }) => multiply(amount, this.find(advertiserId, group))));
  }
}

function toAmounts(shares: readonly (readonly [string, number])[]): ReadonlyMap<string, Amount> {
  return new Map(shares.map(([id, share]) => [id, toAmount(share)]));
}

/** The schema accepts only exact decimals. */
function toAmount(share: number): Amount {
  return parseAmount(share.toFixed(15).replace(/0+$/, '').replace(/\.$/, '')) ?? ZERO;
}
