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

export class RetailerFilter {
  readonly #ids: UuidTable;
  readonly #domains: TextColumn;
  /** The retailer of each domain. */
  readonly #owners: Uint32Array;

  constructor(ids: UuidTable, { names, owners }: DomainData) {
    this.#ids = ids;
    this.#domains = new TextColumn(names);
    this.#owners = owners;
  }

  /** Returns the numbers of the retailers that match, ascending; undefined if the query does not restrict retailers. */
  select({ retailerId, hostname }: RetailerQuery): readonly number[] | undefined {
    const ofSite = hostname === undefined ? undefined : this.#findBySite(hostname);
    if (retailerId === undefined) return ofSite;
    const retailer = this.#ids.find(retailerId);
    return retailer === undefined || ofSite?.includes(retailer) === false ? [] : [retailer];
  }

  /** Returns the retailers with the longest domain that is the hostname or one of its parent domains, ascending. */
  #findBySite(hostname: string): readonly number[] {
    const labels = hostname.split('.');
    for (let first = 0; first < labels.length; first++) {
      const { begin, end } = this.#domains.rangeOf(labels.slice(first).join('.'));
      if (begin < end) return [...this.#owners.subarray(begin, end)];
    }
    return [];
  }
}
