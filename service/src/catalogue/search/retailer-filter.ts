// The filters that restrict a list to some retailers, by their id or by the hostname of their site.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { DomainData } from '../snapshot-data.ts';
import { TextColumn } from '../tables/text-column.ts';
import type { UuidTable } from '../tables/uuid-table.ts';

export interface RetailerQuery {
  readonly retailerId?: Uuid | undefined;
  /** A hostname as parseHostname() returns it. */
  readonly hostname?: string | undefined;
}

/** Returns the numbers of the retailers that match, ascending; undefined if the query does not restrict retailers. */
export type RetailerFilter = (query: RetailerQuery) => readonly number[] | undefined;

export function retailerFilter(ids: UuidTable, { names, owners }: DomainData): RetailerFilter {
  const domains = new TextColumn(names);

  /** Returns the retailers with the longest domain that is the hostname or one of its parent domains, ascending. */
  function findBySite(hostname: string): readonly number[] {
    const labels = hostname.split('.');
    for (let first = 0; first < labels.length; first++) {
      const { begin, end } = domains.rangeOf(labels.slice(first).join('.'));
      if (begin < end) return [...owners.subarray(begin, end)];
    }
    return [];
  }

  return ({ retailerId, hostname }) => {
    const ofSite = hostname === undefined ? undefined : findBySite(hostname);
    if (retailerId === undefined) return ofSite;
    const retailer = ids.find(retailerId);
    return retailer === undefined || ofSite?.includes(retailer) === false ? [] : [retailer];
  };
}
