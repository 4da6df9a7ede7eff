// Partnerize's requests. Sales: conversions by their last change. Pages are linked by a cursor, because an offset would skip rows
// while conversions change. Catalogue: the campaigns that have approved the publisher, and the commissions and vouchers of each
// campaign.

import { MINUTE_MS } from '@offerbook/wire/time.ts';
import {
  basicAuthorisation,
  type CatalogueList,
  type CataloguePull,
  get,
  onePage,
  type PulledPage,
  printSpacedSecond,
  type SalePull,
  stream,
  unexpected,
} from '../pull/network-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

const ORIGIN = 'https://api.partnerize.com';
const PAGE_SIZE = 300;

export function pullSales({ account }: SourceOf<'partnerize'>): SalePull {
  const path = `/reporting/report_publisher/publisher/${encodeURIComponent(account)}/conversion.json`;
  return {
    // The widest window is not published.
    streams: [stream('changes', 30)],
    reread: stream('reread', 30),
    // Not published either.
    rate: { requests: 60, perMs: MINUTE_MS },
    request: (name, { fromMs, toMs }, position) =>
      get(`${ORIGIN}${path}`, {
        start_date: printSpacedSecond(fromMs),
        end_date: printSpacedSecond(toMs),
        timezone: 'UTC',
        date_type: name === 'reread' ? 'standard' : 'last_updated',
        limit: String(PAGE_SIZE),
        ...readPosition(position),
      }),
    next: findNext,
    authorise: ({ applicationKey = '', apiKey = '' }) => basicAuthorisation(applicationKey, apiKey),
  };
}

function findNext(page: PulledPage, position: string | undefined): string | undefined {
  return page.rowCount === 0 ? undefined : (findLinked(page) ?? findOffset(page, position));
}

/** The cursor is in a header and in the link to the next page. If a list has no cursor, the link contains an offset. */
function findLinked({ response, header }: PulledPage): string | undefined {
  const cursor = header('cursor_id');
  if (cursor !== null && cursor !== '') return cursor;
  const link = response?.findText('hypermedia.pagination.next_page');
  if (link === undefined || !URL.canParse(link, ORIGIN)) return undefined;
  const { searchParams } = new URL(link, ORIGIN);
  const offset = searchParams.get('offset');
  return searchParams.get('cursor_id') ?? (offset === null ? undefined : `${OFFSET}${offset}`);
}

const OFFSET = 'offset ';

function readPosition(position: string | undefined): Record<string, string> {
  if (position === undefined) return {};
  return position.startsWith(OFFSET) ? { offset: position.slice(OFFSET.length) } : { cursor_id: position };
}

/** Some accounts have no cursor. Their last page is shorter than the others. */
function findOffset({ rowCount }: PulledPage, position: string | undefined): string | undefined {
  if (rowCount < PAGE_SIZE || (position !== undefined && !position.startsWith(OFFSET))) return undefined;
  const before = position === undefined ? 0 : Number(position.slice(OFFSET.length));
  return `${OFFSET}${before + rowCount}`;
}

export function pullCatalogue({ account }: SourceOf<'partnerize'>): CataloguePull {
  const publisher = encodeURIComponent(account);
  const list = (feed: string, path: string, advertiserId?: string): CatalogueList => ({
    feed,
    ...(advertiserId === undefined ? {} : { advertiserId }),
    request: (position) => get(`${ORIGIN}${path}`, { limit: String(PAGE_SIZE), ...readPosition(position) }),
    next: (page, position) => {
      const next = findNext(page, position);
      if (next === undefined && page.info.hasMore === true && page.rowCount > 0)
        throw unexpected('the response', 'does not indicate where the next page starts');
      return next;
    },
  });
  return {
    lists: [list('campaigns', `/user/publisher/${publisher}/campaign/a.json`)],
    listsOf: (advertiserId) => {
      const campaign = encodeURIComponent(advertiserId);
      const commissions = `${ORIGIN}/v2/campaigns/${campaign}/publishers/${publisher}/commissions/active`;
      return [
        { feed: 'commissions', advertiserId, ...onePage, request: () => get(commissions) },
        list('vouchers', `/user/publisher/${publisher}/campaign/${campaign}/voucher`, advertiserId),
      ];
    },
  };
}
