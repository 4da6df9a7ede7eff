// The sandbox's fake networks with rows and single responses that a test chooses, such as an invalid amount or the sub-id of
// another organisation.

import { ACCOUNTS } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import type { Row } from '../../../feeds/test/fixture.ts';

/** A row, with the times that the network's date filters compare. */
export interface Listed {
  readonly row: Row;
  readonly times: Readonly<Record<string, number>>;
}

export interface SentRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export const PULL_SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = Object.fromEntries(
  Object.entries(ACCOUNTS).map(([network, { credentials }]) => [network, credentials]),
);

export class FakeNetwork implements Disposable {
  readonly rows: Listed[] = [];
  readonly requests: SentRequest[] = [];
  /** Responses to the next requests; undefined answers normally. */
  readonly planned: (((request: SentRequest) => Response | undefined | Promise<Response>) | undefined)[] = [];
  readonly #fakes: FakeNetworks;
  readonly #server: Bun.Server<undefined>;

  constructor(clock: () => number = Date.now) {
    this.#fakes = new FakeNetworks({
      ...{ clock, seed: 1, sinceMs: 0, density: { salesPerDay: 0, cellMs: DAY_MS } },
      ...{ accounts: ['77777', '88888'], pageSizeMax: 2, programmes: 1, areRatesEnforced: false },
      logoUrl: () => 'https://logos.example/',
      rows: () => this.rows.map(({ row, times }) => ({ times, row: () => row })),
    });
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#answer(request) });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const sent = { path: pathname, query: searchParams, body: await request.clone().text() };
    this.requests.push(sent);
    return (await this.planned.shift()?.(sent)) ?? (await this.#fakes.answer(request));
  }

  [Symbol.dispose](): void {
    this.#server.stop(true);
  }
}
