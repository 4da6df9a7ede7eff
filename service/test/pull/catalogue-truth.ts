// Compares the stored catalogue with what the fake networks offer. Both are sorted lines, one for each retailer and each deal.

import type { NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { Ledger } from '@offerbook/sandbox/networks/ledger.ts';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { readCatalogue } from '../storage/open-test-stores.ts';

export async function storedRetailers(stores: Stores): Promise<Retailer[]> {
  return (await readCatalogue(stores)).documents.map(({ document }) => JSON.parse(document));
}

export async function storedOffers(stores: Stores): Promise<string[]> {
  return (await storedRetailers(stores)).flatMap((retailer) => print(retailer)).sort();
}

export function trueOffers(ledger: Ledger, networks: readonly NetworkName[], nowMs: number): string[] {
  return networks
    .flatMap((network) =>
      ledger
        .programmes(network, nowMs)
        .flatMap(({ retailer }) => print(expressible(network, retailer as unknown as Retailer))),
    )
    .sort();
}

/** The parts of a retailer that a network's catalogue has. */
function expressible(network: NetworkName, retailer: Retailer): Retailer {
  switch (network) {
    case 'impact':
      return {
        ...retailer,
        promotions: retailer.promotions.map((promotion) => ({ ...promotion, deepLink: retailer.url })),
      };
    case 'partnerize':
      return { ...retailer, promotions: [] };
    case 'rakuten':
      return {
        ...retailer,
        cashbackOffers: retailer.cashbackOffers.filter((offer) => offer.maximumFixedCommissionFee === null),
      };
    default:
      return retailer;
  }
}

function print({ name, url, cashbackOffers, coupons, promotions }: Retailer): string[] {
  return [
    `${name} ${url}`,
    ...cashbackOffers.map(
      (offer) => `${name}: offer ${offer.cashbackPercentage} ${offer.maximumFixedCommissionFee}`,
    ),
    ...coupons.map(({ code }) => `${name}: coupon ${code}`),
    ...promotions.map(({ deepLink }) => `${name}: promotion ${deepLink}`),
  ];
}
