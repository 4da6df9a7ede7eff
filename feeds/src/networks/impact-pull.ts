// impact.com: fetching actions by their last change. Filtering by event date would miss reversals.

import { HOUR_MS } from '@offerbook/wire/time.ts';
import { basicAuthorisation } from '../pull/network-access.ts';
import { type PulledPage, printSecond, type SalePull, stream } from '../pull/sale-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

export const ORIGIN = 'https://api.impact.com';
export const PAGE_SIZE = 1_000;

export function impactPull({ account }: SourceOf<'impact'>): SalePull {
  const path = `/Mediapartners/${encodeURIComponent(account)}/Actions`;
  return {
    streams: [stream('changes', 44)],
    reread: stream('reread', 44),
    rate: { requests: 1_000, perMs: HOUR_MS },
    request: (name, { fromMs, toMs }, position) => {
      const [start, end] =
        name === 'reread' ? ['ActionDateStart', 'ActionDateEnd'] : ['StartDate', 'EndDate'];
      const query = new URLSearchParams({
        IrVersion: '16',
        [start]: `${printSecond(fromMs)}Z`,
        [end]: `${printSecond(toMs)}Z`,
        PageSize: String(PAGE_SIZE),
      });
      if (position === undefined) query.set('Page', '1');
      else if (!position.startsWith('/')) query.set('Page', position);
      const target = position?.startsWith('/') ? position : `${path}?${query}`;
      // Without this header, the response is XML.
      return {
        method: 'GET',
        url: `${ORIGIN}${target}`,
        headers: { Accept: 'application/json', 'IR-Version': '16' },
      };
    },
    next: (page, position) => findNext(page, position, path),
    readTotal: ({ response }) => response?.findWholeNumber('@total'),
    isNothing,
    authorise: ({ token = '' }) => basicAuthorisation(account, token),
  };
}

/** impact.com sends empty lists in several forms. */
export function isNothing(body: string): boolean {
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
