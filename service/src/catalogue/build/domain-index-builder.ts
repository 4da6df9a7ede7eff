// Collects the domains of the retailers' sites, and writes the page of the list of domains.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { bestOffer } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import { ENVELOPE_START, envelopeEnd } from '../../domain/page.ts';
import type { DomainData, PackedDocuments } from '../snapshot-data.ts';
import { DocumentPacker } from './document-packer.ts';
import { packTexts, sharedUint32Array } from './shared-memory.ts';

export function domainIndexBuilder(previous: PackedDocuments | undefined) {
  const entries: { readonly domain: string; readonly retailer: number }[] = [];
  const items = new DocumentPacker(previous);
  let count = 0;
  let separator = ENVELOPE_START;
  const addText = (text: string, lastIdWord = 0) => items.add(items.encode(text), lastIdWord);
  return {
    /** Adds the next retailer; `more` are the domains of its link. A hostname that identifies no site is left out. */
    add({ id, name, hostname, cashbackOffers }: Retailer, more: readonly string[], lastIdWord: number): void {
      const retailer = count++;
      const own = parseSiteDomain(hostname);
      const domains = [...new Set(own === undefined ? more : [own, ...more])];
      for (const domain of domains) entries.push({ domain, retailer });
      if (domains.length === 0) {
        addText('', lastIdWord);
        return;
      }
      const { cashbackPercentage = null, maximumFixedCommissionFee = null } = bestOffer(cashbackOffers) ?? {};
      const item = { id, name, domains, cashbackPercentage, maximumFixedCommissionFee };
      addText(separator + printJson(item), lastIdWord);
      separator = ',';
    },
    build(): DomainData {
      // The sort is stable, so retailers with the same domain stay in order.
      entries.sort((a, b) => Number(a.domain > b.domain) - Number(a.domain < b.domain));
      addText(`${separator === ENVELOPE_START ? separator : ''}${envelopeEnd(undefined)}`);
      return {
        names: packTexts(entries.map(({ domain }) => domain)),
        owners: sharedUint32Array(entries.map(({ retailer }) => retailer)),
        items: items.build(),
      };
    },
  };
}
