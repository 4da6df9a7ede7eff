// Locates the deals in the stored document of their retailer, because pages copy deals from there.

import type { Retailer } from '@offerbook/wire/catalogue.ts';
import { DEAL_LISTS } from '@offerbook/wire/deals.ts';
import { printJson } from '@offerbook/wire/decimal.ts';

/** Where each deal begins and ends, in bytes, list by list: begin, end, begin, end, … */
export type DealPlaces = readonly number[];

/** Begins an object and nothing else: inside a string, the quote would be escaped. */
const OBJECT_BEGIN = Buffer.from('{"');
const OBJECT_END = '}'.charCodeAt(0);

/** Searches the text, which is faster than parsing it. Returns undefined if it has fields after the deals, or nested objects. */
export function locateDeals(document: Buffer, retailer: Retailer): DealPlaces | undefined {
  if (!Object.keys(retailer).join().endsWith(LISTS_AT_END)) return undefined;
  const places: number[] = [];
  let next = document.indexOf(OBJECT_BEGIN, OBJECT_BEGIN.length);
  for (const list of DEAL_LISTS) {
    for (let left = retailer[list].length; left > 0; left--) {
      const begin = next;
      if (begin === -1) return undefined;
      next = document.indexOf(OBJECT_BEGIN, begin + OBJECT_BEGIN.length);
      // A comma follows a deal, and the names of other lists follow the last deal of a list.
      const nextOrEnd = next === -1 ? document.length - 1 : next;
      places.push(begin, left > 1 ? nextOrEnd - 1 : document.lastIndexOf(OBJECT_END, nextOrEnd - 1) + 1);
    }
  }
  return next === -1 ? places : undefined;
}

const LISTS_AT_END = DEAL_LISTS.join();

/** Serialises the document again, with the deals last, and locates the deals. */
export function layOut({ cashbackOffers, coupons, promotions, ...own }: Retailer): {
  readonly document: string;
  readonly places: DealPlaces;
} {
  let document = printJson(own).slice(0, -1);
  let length = Buffer.byteLength(document);
  const places: number[] = [];
  const add = (text: string) => {
    document += text;
    length += Buffer.byteLength(text);
  };
  const lists = { cashbackOffers, coupons, promotions };
  for (const list of DEAL_LISTS) {
    add(`,"${list}":[`);
    for (const [index, deal] of lists[list].entries()) {
      if (index > 0) add(',');
      const begin = length;
      add(printJson(deal));
      places.push(begin, length);
    }
    add(']');
  }
  add('}');
  return { document, places };
}
