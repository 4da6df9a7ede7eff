// impact.com's requests. Sales: actions by their last change, because filtering by event date would miss reversals. Catalogue:
// campaigns, contracts and promo codes, and the deals of each campaign.

import { HOUR_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '@offerbook/wire/timestamp.ts';
import {
  ACCEPT_JSON,
  basicAuthorisation,
  type CatalogueList,
  type CataloguePull,
  get,
  numberedPages,
  type PulledPage,
  type SalePull,
  stream,
} from '../pull/network-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

const ORIGIN = 'https://api.impact.com';
const PAGE_SIZE = 1_000;
/** Without `Accept`, the response is XML. */
const HEADERS = { ...ACCEPT_JSON, 'IR-Version': '16' };

export function pullSales({ account }: SourceOf<'impact'>): SalePull {
  const path = `/Mediapartners/${encodeURIComponent(account)}/Actions`;
  return {
    streams: [stream('changes', 44)],
    reread: stream('reread', 44),
    rate: { requests: 1_000, perMs: HOUR_MS },
    request: (name, { fromMs, toMs }, position = '1') => {
      if (position.startsWith('/')) return get(`${ORIGIN}${position}`, {}, HEADERS);
      const [start, end] =
        name === 'reread' ? ['ActionDateStart', 'ActionDateEnd'] : ['StartDate', 'EndDate'];
      const query = {
        IrVersion: '16',
        [start]: `${printSecond(fromMs)}Z`,
        [end]: `${printSecond(toMs)}Z`,
        PageSize: String(PAGE_SIZE),
        Page: position,
      };
      return get(`${ORIGIN}${path}`, query, HEADERS);
    },
    next: (page, position) => findNext(page, position, path),
    isNothing,
    authorise: ({ token = '' }) => basicAuthorisation(account, token),
  };
}

/** impact.com sends empty lists in several forms. */
function isNothing(body: string): boolean {
  return /^\s*(?:null|\[\s*\]|\{\s*(?:"\w+"\s*:\s*\[\s*\]\s*)?\})\s*$/.test(body);
}

/** Follows the link to the next page, or counts pages if the link is missing or refers to its own page. */
function findNext(
  { response, rowCount }: PulledPage,
  position: string | undefined,
  path: string,
): string | undefined {
  if (response === undefined || rowCount === 0) return undefined;
  const page = response.findWholeNumber('@page');
  const pages = response.findWholeNumber('@numpages');
  const link = response.findText('@nextpageuri');
  // Follows only links to the same path, because the request sends the account's credentials.
  if (link?.startsWith(`${path}?`) === true && link !== position && pageOf(link) !== page) return link;
  return page !== undefined && pages !== undefined && page < pages ? String(page + 1) : undefined;
}

function pageOf(link: string): number | undefined {
  const page = new URL(link, ORIGIN).searchParams.get('Page');
  return page === null ? undefined : Number(page);
}

export function pullCatalogue({ account }: SourceOf<'impact'>): CataloguePull {
  const list = (feed: string, path: string, query: Readonly<Record<string, string>> = {}): CatalogueList => ({
    feed,
    ...numberedPages,
    request: (position = '1') =>
      get(
        `${ORIGIN}/Mediapartners/${encodeURIComponent(account)}/${path}`,
        { IrVersion: '16', PageSize: String(PAGE_SIZE), Page: position, ...query },
        HEADERS,
      ),
  });
  return {
    lists: [
      list('campaigns', 'Campaigns', { InsertionOrderStatus: 'Active' }),
      list('contracts', 'Contracts', { Status: 'ACTIVE' }),
      { ...list('promo-codes', 'PromoCodes'), isNothing },
    ],
    listsOf: (advertiserId) => [
      {
        ...list('deals', `Campaigns/${encodeURIComponent(advertiserId)}/Deals`, { State: 'ACTIVE' }),
        advertiserId,
        isNothing,
      },
    ],
  };
}
