// The sandbox's fake networks on a socket. By default, with the clock of this machine and few sales.

import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import {
  type AnsweredRequest,
  FakeNetworks,
  type FakeNetworksOptions,
} from '@offerbook/sandbox/networks/fake-networks.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';

export class ServedNetworks implements Disposable {
  readonly fakes: FakeNetworks;
  readonly answered: AnsweredRequest[] = [];
  /** Replaces a network's response; undefined answers normally. */
  intercept: (request: Request) => Response | undefined | Promise<Response | undefined> = () => undefined;
  readonly #server: Bun.Server<undefined>;

  constructor(options: Partial<FakeNetworksOptions> = {}) {
    this.fakes = new FakeNetworks({
      ...{ seed: 1, sinceMs: Date.now() - 10 * DAY_MS, clock: Date.now },
      density: { salesPerDay: 100, cellMs: DAY_MS / 4 },
      logoUrl: (id) => `https://logos.example/${id}.png`,
      onResponse: (entry) => this.answered.push(entry),
      ...options,
    });
    this.#server = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1', development: false },
      fetch: async (request) => (await this.intercept(request)) ?? this.fakes.answer(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** The settings of a real account's source file that the example cannot know. */
  settingsOf(network: NetworkName): Record<string, unknown> {
    const { credentials: _, ...known } = ACCOUNTS[network];
    return { ...known, baseUrl: this.url };
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

/** The day before yesterday. A pull from there needs few requests. */
export function recentDay(): string {
  return new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
}
