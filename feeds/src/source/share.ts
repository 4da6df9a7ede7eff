// The user's share of a commission: the group's share if there is one, else the advertiser's, else the default.

import { type Amount, multiply, parseAmount, sum, ZERO } from '@offerbook/wire/amount.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { Commission } from '../network.ts';
import type { Overlay } from './overlay.ts';
import type { Source } from './source-file.ts';

export type Shares = ReturnType<typeof openShares>;

/** An advertiser's share is in the source file or in the overlay. The overlay's parser rejects a share that is in both. */
export function openShares({ share }: Source, overlay: Overlay) {
  const standard = toAmount(share.default);
  const overlayShares = [...overlay].flatMap(([id, entry]) =>
    entry.share === undefined ? [] : [[id, entry.share] as const],
  );
  const advertisers = toAmounts([...Object.entries(share.advertisers), ...overlayShares]);
  const groups = toAmounts(Object.entries(share.groups));

  function find(advertiserId: string, group?: string): Amount {
    const groupShare = group === undefined ? undefined : groups.get(group);
    return groupShare ?? advertisers.get(advertiserId) ?? standard;
  }

  return {
    find,
    /** The user's share of a sale's commissions, before rounding. */
    apply: (advertiserId: string, commissions: readonly Commission[]): Amount =>
      sum(commissions.map(({ amount, group }) => multiply(amount, find(advertiserId, group)))),
  };
}

function toAmounts(shares: readonly (readonly [string, number])[]): ReadonlyMap<string, Amount> {
  return new Map(shares.map(([id, share]) => [id, toAmount(share)]));
}

/** Exact, because the schema accepts only exact decimals. */
function toAmount(share: number): Amount {
  return parseAmount(printJson(share)) ?? ZERO;
}
