// Partnerize: fetching conversions by their last change. Pages are linked by a cursor, because an offset would skip rows while
// conversions change.

import { MINUTE_MS } from '@offerbook/wire/time.ts';
import { basicAuthorisation } from '../pull/network-access.ts';
import { type PulledPage, printSecond, type SalePull, stream } from '../pull/sale-pull.ts';
import type { SourceOf } from '../source/source-file.ts';

export const ORIGIN = 'https://api.partnerize.com';
export const PAGE_SIZE = 300;

export function partnerizePull({ account }: SourceOf<'partnerize'>): SalePull {
  return {
    // The widest window is not published.
    streams: [stream('changes', 30)],
    reread: stream('reread', 30),
    // Not published either.
    rate: { requests: 60, perMs: MINUTE_MS },
    request: (name, { fromMs, toMs }, position) => {
      const query = new URLSearchParams({
        start_date: printTime(fromMs),
        end_date: printTime(toMs),
        timezone: 'UTC',
        date_type: name === 'reread' ? 'standard' : 'last_updated',
        limit: String(PAGE_SIZE),
        ...readPosition(position),
      });
      const path = `/reporting/report_publisher/publisher/${encodeURIComponent(account)}/conversion.json`;
      return {
        method: 'GET',
        url: `${ORIGIN}${path}?${query}`,
        headers: { Accept: 'application/json' },
      };
    },
    next: findNext,
    authorise: ({ applicationKey = '', apiKey = '' }) => basicAuthorisation(applicationKey, apiKey),
  };
}

export function findNext(page: PulledPage, position: string | undefined): string | undefined {
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

export function readPosition(position: string | undefined): Record<string, string> {
  if (position === undefined) return {};
  return position.startsWith(OFFSET) ? { offset: position.slice(OFFSET.length) } : { cursor_id: position };
}

/** Some accounts have no cursor. Their last page is shorter than the others. */
function findOffset({ rowCount }: PulledPage, position: string | undefined): string | undefined {
  if (rowCount < PAGE_SIZE || (position !== undefined && !position.startsWith(OFFSET))) return undefined;
  const before = position === undefined ? 0 : Number(position.slice(OFFSET.length));
  return `${OFFSET}${before + rowCount}`;
}

function printTime(ms: number): string {
  return printSecond(ms).replace('T', ' ');
}
