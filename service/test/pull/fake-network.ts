// A small stand-in for the interfaces of all five networks: filters its rows by the requested window, pages them, and checks
// credentials. The sandbox's fakes cannot replace it: they generate their sales from a seed, whereas these tests choose every
// field of a row, such as an invalid amount or the sub-id of another organisation, and single responses of the network.

import type { Row } from '../../../feeds/test/fixture.ts';

/** A row, and the times by which the network's filters find it, by stream. */
export interface Listed {
  readonly row: Row;
  readonly times: Readonly<Record<string, number>>;
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
}

interface Found {
  readonly stream: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const SECRET = { awin: 'awin-s3cret', impact: 'impact-s3cret', cj: 'cj-s3cret' };
export const PULL_SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  awin: { token: SECRET.awin },
  impact: { token: SECRET.impact },
  partnerize: { applicationKey: 'application-s3cret', apiKey: 'api-s3cret' },
  cj: { token: SECRET.cj },
  rakuten: { clientId: 'client-1d', clientSecret: 'client-s3cret' },
};

const basic = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`;
const AUTHORISATION: Readonly<Record<string, string>> = {
  awin: `Bearer ${SECRET.awin}`,
  impact: basic('77777', SECRET.impact),
  partnerize: basic('application-s3cret', 'api-s3cret'),
  cj: `Bearer ${SECRET.cj}`,
};

export class FakeNetwork implements Disposable {
  readonly rows: Listed[] = [];
  readonly requests: SentRequest[] = [];
  /** Responses to the next requests; undefined answers normally. */
  readonly planned: (((request: SentRequest) => Response | undefined | Promise<Response>) | undefined)[] = [];
  pageSize = 2;
  /** Rakuten: the access token that is valid now. */
  accessToken = 'access-0';
  readonly #network: string;
  readonly #server: Bun.Server<undefined>;

  constructor(network: string) {
    this.#network = network;
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#answer(request) });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const { method, headers } = request;
    const sent = { method, path: pathname, query: searchParams, headers, body: await request.text() };
    this.requests.push(sent);
    const planned = await this.planned.shift()?.(sent);
    if (planned !== undefined) return planned;
    if (pathname === '/token') return this.#logIn(sent);
    const expected = AUTHORISATION[this.#network] ?? `Bearer ${this.accessToken}`;
    if (headers.get('Authorization') !== expected) return Response.json({ message: 'who?' }, { status: 401 });
    const window = this.#windowOf(sent);
    const found = this.rows.filter(({ times }) => {
      const time = times[window.stream];
      return time !== undefined && window.fromMs <= time && time <= window.toMs;
    });
    return this.#page(
      sent,
      found.map(({ row }) => row),
    );
  }

  #logIn({ headers, body }: SentRequest): Response {
    if (
      headers.get('Authorization') !== `Bearer ${btoa('client-1d:client-s3cret')}` ||
      body !== 'scope=77777'
    )
      return Response.json({ message: 'who?' }, { status: 401 });
    return Response.json({ access_token: this.accessToken, token_type: 'bearer', expires_in: 300 });
  }

  #windowOf({ query, body }: SentRequest): Found {
    const at = (name: string) => Date.parse(`${query.get(name)?.replace(' ', 'T').replace('Z', '')}Z`);
    switch (this.#network) {
      case 'awin':
        return { stream: query.get('dateType') ?? '', fromMs: at('startDate'), toMs: at('endDate') };
      case 'impact':
        return { stream: 'changes', fromMs: at('StartDate'), toMs: at('EndDate') };
      case 'partnerize':
        return { stream: 'changes', fromMs: at('start_date'), toMs: at('end_date') };
      case 'rakuten':
        return { stream: 'process', fromMs: at('process_date_start'), toMs: at('process_date_end') };
      default: {
        const { query: text } = JSON.parse(body) as { query: string };
        const [, name = '', from = ''] = /since(Posting|Locking|Event)Date: "([^"]+)"/.exec(text) ?? [];
        const [, to = ''] = /before(?:Posting|Locking|Event)Date: "([^"]+)"/.exec(text) ?? [];
        return { stream: name.toLowerCase(), fromMs: Date.parse(from), toMs: Date.parse(to) };
      }
    }
  }

  #page({ query, path, body }: SentRequest, found: readonly Row[]): Response {
    const size = this.pageSize;
    switch (this.#network) {
      case 'awin':
        return Response.json(found);
      case 'impact': {
        const page = Number(query.get('Page'));
        const pages = Math.ceil(found.length / size);
        const next = new URLSearchParams(query);
        next.set('Page', String(page + 1));
        return Response.json({
          '@page': String(page),
          '@numpages': String(pages),
          '@total': String(found.length),
          '@nextpageuri': page < pages ? `${path}?${next}` : '',
          Actions: found.slice((page - 1) * size, page * size),
        });
      }
      case 'partnerize': {
        const start = Number(query.get('cursor_id') ?? 0);
        const end = start + size;
        const headers = end < found.length ? { cursor_id: String(end) } : undefined;
        return Response.json({ conversions: found.slice(start, end) }, { headers: headers ?? {} });
      }
      case 'rakuten': {
        const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))];
        return Response.json(found.slice((page - 1) * limit, page * limit));
      }
      default: {
        const [, since = ''] = /sinceCommissionId: "(\d+)"/.exec(body.replaceAll('\\', '')) ?? [];
        const rest = found
          .filter(({ commissionId }) => String(commissionId) > since)
          .sort((a, b) => (String(a.commissionId) < String(b.commissionId) ? -1 : 1));
        const records = rest.slice(0, size);
        const maxCommissionId = String(records.at(-1)?.commissionId ?? '');
        const payloadComplete = rest.length <= size;
        return Response.json({
          data: {
            publisherCommissions: {
              count: records.length,
              limit: size,
              payloadComplete,
              maxCommissionId,
              records,
            },
          },
        });
      }
    }
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }
}
