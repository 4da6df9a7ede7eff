// Collects the domains of the retailers' sites, and writes the page of the list of domains.

import { bestOffer } from '@offerbook/wire/best-offer.ts';
import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import { ENVELOPE_START, envelopeEnd } from '../../domain/page.ts';
import type { DomainData } from '../snapshot-data.ts';
import { JsonPacker, packStrings, sharedUint32Array } from './shared-memory.ts';

export class DomainIndexBuilder {
  readonly #entries: { readonly domain: string; readonly retailer: number }[] = [];
  readonly #items = new JsonPacker();
  #count = 0;
  #isPageEmpty = true;

  /** Adds the next retailer; `more` are the domains of its link. A hostname that identifies no site is left out. */
  add({ id, name, hostname, cashbackOffers }: Retailer, more: readonly string[]): void {
    const retailer = this.#count++;
    const own = parseSiteDomain(hostname);
    const domains = [...new Set(own === undefined ? more : [own, ...more])];
    for (const domain of domains) this.#entries.push({ domain, retailer });
    const { cashbackPercentage = null, maximumFixedCommissionFee = null } = bestOffer(cashbackOffers) ?? {};
    const item = { id, name, domains, cashbackPercentage, maximumFixedCommissionFee };
    this.#items.add(domains.length === 0 ? '' : this.#nextSeparator() + printJson(item));
  }

  /** Returns the text that precedes the next item of the page. */
  #nextSeparator(): string {
    const isFirst = this.#isPageEmpty;
    this.#isPageEmpty = false;
    return isFirst ? ENVELOPE_START : ',';
  }

  build(): DomainData {
    const entries = this.#entries.sort((a, b) =>
      a.domain === b.domain ? a.retailer - b.retailer : a.domain < b.domain ? -1 : 1,
    );
    this.#items.add(`${this.#isPageEmpty ? ENVELOPE_START : ''}${envelopeEnd(undefined)}`);
    return {
      names: packStrings(entries.map(({ domain }) => domain)),
      owners: sharedUint32Array(entries.map(({ retailer }) => retailer)),
      items: this.#items.build(),
    };
  }
}
