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
    this.#add(domains.length === 0 ? '' : this.#nextSeparator() + printJson(item), lastIdWord);
  }

  #add(text: string, lastIdWord = 0): void {
    this.#items.add(this.#items.encode(text), lastIdWord);
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
    this.#add(`${this.#isPageEmpty ? ENVELOPE_START : ''}${envelopeEnd(undefined)}`);
    return {
      names: packTexts(entries.map(({ domain }) => domain)),
      owners: sharedUint32Array(entries.map(({ retailer }) => retailer)),
      items: this.#items.build(),
    };
  }
}
