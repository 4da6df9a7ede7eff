// Reads the sales of the fake networks with plain requests, as a simple and patient client would.

import { ACCOUNTS, basic, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';

const JSON_ONLY = { Accept: 'application/json' };

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Response bodies by name. */
export type Bodies = Record<string, string>;

export const AUTHORISATION = {
  awin: `Bearer ${ACCOUNTS.awin.credentials.token}`,
  impact: basic(ACCOUNTS.impact.account, ACCOUNTS.impact.credentials.token),
  partnerize: basic(ACCOUNTS.partnerize.credentials.applicationKey, ACCOUNTS.partnerize.credentials.apiKey),
  cj: `Bearer ${ACCOUNTS.cj.credentials.token}`,
};

export function ask(fakes: FakeNetworks, target: string, init: RequestInit = {}): Promise<Response> {
  return fakes.answer(new Request(`http://127.0.0.1${target}`, init));
}

export async function read(fakes: FakeNetworks, target: string, init: RequestInit = {}): Promise<string> {
  const answer = await ask(fakes, target, init);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${text}`);
  return text;
}

export function headersOf(authorization: string): { headers: Record<string, string> } {
  return { headers: { ...JSON_ONLY, Authorization: authorization } };
}

/** Asks for a token of Rakuten. */
export function askToken(
  fakes: FakeNetworks,
  headers: Record<string, string> = JSON_ONLY,
): Promise<Response> {
  const { account, credentials } = ACCOUNTS.rakuten;
  const key = btoa(`${credentials.clientId}:${credentials.clientSecret}`);
  return ask(fakes, '/token', {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${key}` },
    body: new URLSearchParams({ scope: account }),
  });
}

export async function rakutenHeaders(fakes: FakeNetworks) {
  const { access_token } = (await (await askToken(fakes)).json()) as { access_token: string };
  return headersOf(`Bearer ${access_token}`);
}

function windows({ fromMs, toMs }: Span, days: number): Span[] {
  const result: Span[] = [];
  for (let startMs = fromMs; startMs < toMs; startMs += days * DAY_MS) {
    result.push({ fromMs: startMs, toMs: Math.min(startMs + days * DAY_MS, toMs) });
  }
  return result;
}

const printed = (ms: number) => new Date(ms).toISOString().slice(0, 19);

type Walk = (fakes: FakeNetworks, span: Span, filters?: readonly string[]) => Promise<Bodies>;

/** Everything that changed in a span, by the filters that show changes. `filters` replaces them. */
export const WALKS: Readonly<Record<NetworkName, Walk>> = {
  async awin(fakes, span, filters = ['transaction', 'validation', 'amendment']) {
    const bodies: Bodies = {};
    for (const { fromMs, toMs } of windows(span, 30)) {
      for (const type of filters) {
        const target = `/publishers/${ACCOUNTS.awin.account}/transactions/?startDate=${printed(fromMs)}&endDate=${printed(toMs)}&timezone=UTC&dateType=${type}`;
        bodies[`${type} ${fromMs}`] = await read(fakes, target, headersOf(AUTHORISATION.awin));
      }
    }
    return bodies;
  },
  async impact(fakes, span, [start = 'StartDate', end = 'EndDate'] = []) {
    const bodies: Bodies = {};
    for (const { fromMs, toMs } of windows(span, 44)) {
      let next = `/Mediapartners/${ACCOUNTS.impact.account}/Actions?${start}=${printed(fromMs)}Z&${end}=${printed(toMs)}Z`;
      for (let page = 1; next !== ''; page++) {
        const body = await read(fakes, next, headersOf(AUTHORISATION.impact));
        // The page numbers of different windows must not be mistaken for one list.
        const answer = JSON.parse(body) as { '@nextpageuri': string; Actions: unknown[] };
        bodies[`${fromMs} ${page}`] = JSON.stringify(answer.Actions);
        next = answer['@nextpageuri'];
      }
    }
    return bodies;
  },
  async partnerize(fakes, span, [type = 'last_updated'] = []) {
    const bodies: Bodies = {};
    for (const { fromMs, toMs } of windows(span, 30)) {
      let next: string | undefined =
        `/reporting/report_publisher/publisher/${ACCOUNTS.partnerize.account}/conversion.json?start_date=${printed(fromMs)}&end_date=${printed(toMs)}&timezone=UTC&date_type=${type}`;
      for (let page = 1; next !== undefined; page++) {
        const body = await read(fakes, next, headersOf(AUTHORISATION.partnerize));
        const answer = JSON.parse(body) as {
          hypermedia: { pagination: { next_page?: string } };
          conversions: unknown[];
        };
        bodies[`${fromMs} ${page}`] = JSON.stringify(answer.conversions);
        next = answer.hypermedia.pagination.next_page;
      }
    }
    return bodies;
  },
  async cj(fakes, span, filters = ['PostingDate', 'LockingDate']) {
    const bodies: Bodies = {};
    for (const { fromMs, toMs } of windows(span, 30)) {
      for (const filter of filters) {
        let sinceId: string | undefined;
        for (let page = 1; ; page++) {
          const query = cjQuery(filter, { fromMs, toMs }, sinceId);
          const body = await askCj(fakes, query);
          bodies[`${filter} ${fromMs} ${page}`] = body;
          const list = (JSON.parse(body) as CjAnswer).data.publisherCommissions;
          if (list.payloadComplete) break;
          sinceId = list.maxCommissionId;
        }
      }
    }
    return bodies;
  },
  async rakuten(fakes, { fromMs, toMs }) {
    const bodies: Bodies = {};
    const headers = await rakutenHeaders(fakes);
    for (let page = 1, count = 1000; count === 1000; page++) {
      const target = `/events/1.0/transactions?process_date_start=${printed(fromMs)}&process_date_end=${printed(toMs)}&limit=1000&page=${page}`;
      const body = await read(fakes, target, headers);
      bodies[`${fromMs} ${page}`] = body;
      count = (JSON.parse(body) as unknown[]).length;
    }
    return bodies;
  },
};

interface CjAnswer {
  readonly data: {
    readonly publisherCommissions: {
      readonly payloadComplete: boolean;
      readonly maxCommissionId: string;
      readonly records: readonly Record<string, unknown>[];
    };
  };
}

const CJ_FIELDS = `commissionId original originalActionId actionStatus actionType actionTrackerId validationStatus advertiserId
  clickDate eventDate postingDate lockingDate saleAmountPubCurrency pubCommissionAmountPubCurrency country coupon shopperId`;

export function cjQuery(filter: string, { fromMs, toMs }: Span, sinceId?: string): string {
  const more = sinceId === undefined ? '' : `, sinceCommissionId: "${sinceId}"`;
  return `{ publisherCommissions(forPublishers: ["${ACCOUNTS.cj.account}"], since${filter}: "${printed(fromMs)}Z",
    before${filter}: "${printed(toMs)}Z"${more}) { count limit payloadComplete maxCommissionId records { ${CJ_FIELDS} } } }`;
}

export function askCj(fakes: FakeNetworks, query: string): Promise<string> {
  return read(fakes, '/query', {
    method: 'POST',
    ...headersOf(AUTHORISATION.cj),
    body: JSON.stringify({ query }),
  });
}
