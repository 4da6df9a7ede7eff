// Collects the domains of the retailers' sites, and writes the page of the list of domains.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { bestOffer } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import { ENVELOPE_START, envelopeEnd } from '../../domain/page.ts';
import type { DomainData, PackedDocuments } from '../snapshot-data.ts';
import { DocumentPacker } from './document-packer.ts';
import { packTexts, sharedUint32Array } from './shared-memory.ts';

export class DomainIndexBuilder {
  readonly #entries: { readonly domain: string; readonly retailer: number }[] = [];
  readonly #items: DocumentPacker;
  #count = 0;
  #isPageEmpty = true;

  constructor(previous: PackedDocuments | undefined) {
    this.#items = new DocumentPacker(previous);
  }

  /** Adds the next retailer; `more` are the domains of its link. A hostname that identifies no site is left out. */
  add({ id, name, hostname, cashbackOffers }: Retailer, more: readonly string[], lastIdWord: number): void {
    const retailer = this.#count++;
    const own = parseSiteDomain(hostname);
    const domains = [...new Set(own === undefined ? more : [own, ...more])];
    for (const domain of domains) this.#entries.push({ domain, retailer });
    const { cashbackPercentage = null, maximumFixedCommissionFee = null } = bestOffer(cashbackOffers) ?? {};
    const item = { id, name, domains, cashbackPercentage, maximumFixedCommissionFee };
    const separator = this.#isPageEmpty ? ENVELOPE_START : ',';
    this.#add(domains.length === 0 ? '' : separator + printJson(item), lastIdWord);
    if (domains.length > 0) this.#isPageEmpty = false;
  }

  #add(text: string, lastIdWord = 0): void {
    this.#items.add(this.#items.encode(text), lastIdWord);
  }

  build(): DomainData {
    // The sort is stable, so retailers with the same domain stay in order.
    const entries = this.#entries.sort((a, b) => Number(a.domain > b.domain) - Number(a.domain < b.domain));
    this.#add(`${this.#isPageEmpty ? ENVELOPE_START : ''}${envelopeEnd(undefined)}`);
    return {
      names: packTexts(entries.map(({ domain }) => domain)),
      owners: sharedUint32Array(entries.map(({ retailer }) => retailer)),
      items: this.#items.build(),
    };
  }
}
