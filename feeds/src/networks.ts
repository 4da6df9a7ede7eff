// All supported networks. To add one, add its file here. A constant in that file has the network's terms and field names, with the
// variants seen across accounts and years. An entry that is not from the network's documentation is marked B if existing programs
// confirm it, and C if it is second-hand or untested.

import type { AffiliateNetwork, NetworkFeeds } from './network.ts';
import { awin } from './networks/awin.ts';
import { cj } from './networks/cj.ts';
import { impact } from './networks/impact.ts';
import { partnerize } from './networks/partnerize.ts';
import { rakuten } from './networks/rakuten.ts';
import { table } from './networks/table.ts';
import type { CataloguePull, SalePull } from './pull/network-pull.ts';
import type { NetworkName, Source } from './source/source-file.ts';

const NETWORKS: { readonly [Name in NetworkName]: AffiliateNetwork<Name> } = {
  awin,
  impact,
  partnerize,
  cj,
  rakuten,
  table,
};

/** `nowMs` determines the age of sales, for networks that never confirm them. */
export function openFeeds(source: Source, nowMs: number): NetworkFeeds {
  return networkOf(source).openFeeds(source, nowMs);
}

/** Returns undefined if the network has no supported API. */
export function openSalePull(source: Source): SalePull | undefined {
  return networkOf(source).pullSales?.(source);
}

/** Returns undefined if the network has no supported API, or if the source file lacks a setting for it. */
export function openCataloguePull(source: Source): CataloguePull | undefined {
  return networkOf(source).pullCatalogue?.(source);
}

/** The cast is safe: the entry has the name of the source. */
function networkOf({ network }: Source): AffiliateNetwork<NetworkName> {
  return NETWORKS[network] as AffiliateNetwork<NetworkName>;
}
