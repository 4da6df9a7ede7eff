// The user's share of a commission: the group's share if there is one, else the advertiser's, else the default.

import { type Amount, multiply, parseAmount, round, sum, toNumber, ZERO } from '@offerbook/wire/amount.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { Commission } from '../network.ts';
import type { Overlay } from './overlay.ts';
import type { Source } from './source-file.ts';

export type Shares = ReturnType<typeof openShares>;

/** An advertiser's share is in the source file or in the overlay. The overlay's parser rejects a share that is in both. */
export function openShares({ share, rounding }: Source, overlay: Overlay) {
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
    /** The user's share of commissions in this currency, rounded. */
    apply(advertiserId: string, commissions: readonly Commission[], currency: string): number {
      const shared = commissions.map(({ amount, group }) => multiply(amount, find(advertiserId, group)));
      return toNumber(round(sum(shared), minorUnits(currency), rounding));
    },
  };
}

function toAmounts(shares: readonly (readonly [string, number])[]): ReadonlyMap<string, Amount> {
  return new Map(shares.map(([id, share]) => [id, toAmount(share)]));
}

/** Exact, because the schema accepts only exact decimals. */
function toAmount(share: number): Amount {
  return parseAmount(printJson(share)) ?? ZERO;
}

const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ');
const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');
const FOUR_DECIMALS = ['CLF', 'UYW'];

/**
 * Number of decimals that ISO 4217 specifies for a currency. Intl reports the decimals in everyday use instead: none for the
 * Albanian lek and the Serbian dinar, which officially have two.
 */
export function minorUnits(currencyCode: string): number {
  if (NO_DECIMALS.includes(currencyCode)) return 0;
  if (THREE_DECIMALS.includes(currencyCode)) return 3;
  return FOUR_DECIMALS.includes(currencyCode) ? 4 : 2;
}
