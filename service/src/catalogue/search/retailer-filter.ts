// The filters that restrict a list to some retailers, by their id or by the hostname of their site.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { UuidTable } from '../tables/uuid-table.ts';
import type { DomainIndex } from './domain-index.ts';

export interface RetailerQuery {
  readonly retailerId?: Uuid | undefined;
  /** A hostname as parseHostname() returns it. */
  readonly hostname?: string | undefined;
}

export class RetailerFilter {
  readonly #ids: UuidTable;
  readonly #domains: DomainIndex;

  constructor(ids: UuidTable, domains: DomainIndex) {
    this.#ids = ids;
    this.#domains = domains;
  }

  /** Returns the numbers of the retailers that match, ascending; undefined if the query does not restrict retailers. */
  select({ retailerId, hostname }: RetailerQuery): readonly number[] | undefined {
    const ofSite = hostname === undefined ? undefined : this.#domains.find(hostname);
    if (retailerId === undefined) return ofSite;
    const retailer = this.#ids.find(retailerId);
    return retailer === undefined || ofSite?.includes(retailer) === false ? [] : [retailer];
  }
}
