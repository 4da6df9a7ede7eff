// The five fake networks behind one address. Their paths differ, so a client needs only one base URL.

import { SECOND_MS } from '@offerbook/wire/time.ts';
import { Random } from '../random.ts';
import { ACCOUNTS, NETWORKS, type NetworkName } from './accounts.ts';
import { awin } from './awin.ts';
import { cj } from './cj.ts';
import {
  type FakeNetwork,
  type FakeOptions,
  type ListedRow,
  type NetworkRequest,
  type Rate,
  Refusal,
} from './fake.ts';
import type { Fault, FaultPlan } from './faults.ts';
import { impact } from './impact.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';
import { partnerize } from './partnerize.ts';
import { rakuten } from './rakuten.ts';

export interface FakeNetworksOptions extends LedgerOptions, FakeOptions {
  readonly clock: () => number;
  /** Default: no faults. */
  readonly faults?: FaultPlan;
  /** False to accept any number of requests. Default: true. */
  readonly areRatesEnforced?: boolean;
  /** The accounts at every network. Default: the sandbox's. */
  readonly accounts?: readonly string[];
  /** Rows that every network lists instead of the ledger's sales. */
  readonly rows?: () => readonly ListedRow[];
  readonly onResponse?: (entry: AnsweredRequest) => void;
}

/** One request, for tests that check how a client behaves. */
export interface AnsweredRequest {
  readonly network: NetworkName;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly status: number;
  readonly fault: Fault | undefined;
  readonly atMs: number;
}

const FAKES: Readonly<Record<NetworkName, FakeNetwork>> = { awin, impact, partnerize, cj, rakuten };

const ROUTES = NETWORKS.flatMap((name) => {
  const network = FAKES[name];
  return Object.entries(network.routes).map(([route, answer]) => {
    const path = RegExp.escape(route)
      .replace('\\{account\\}', '(?<account>\\w+)')
      .replace('\\*', '(?<segment>\\w+)');
    return {
      name,
      network,
      answer,
      rate: network.rates?.[route] ?? network.rate,
      pattern: new RegExp(`^${path}/?$`),
    };
  });
});
type Route = (typeof ROUTES)[number];

export class FakeNetworks {
  readonly ledger: Ledger;
  readonly #options: FakeNetworksOptions;
  readonly #tokens = new Map<string, number>();
  /** Times of the accepted requests. */
  readonly #accepted = new Map<Rate, number[]>();
  readonly #counts = new Map<NetworkName, number>();

  constructor(options: FakeNetworksOptions) {
    this.#options = options;
    this.ledger = new Ledger(options);
  }

  async answer(request: Request): Promise<Response> {
    const { seed, clock, faults, onResponse } = this.#options;
    const { method, headers } = request;
    const url = new URL(request.url);
    const called = `${method} ${url.pathname}`;
    const route = ROUTES.find(({ pattern }) => pattern.test(called));
    if (route === undefined) return Response.json({ error: 'not found' }, { status: 404 });
    const { name } = route;
    const number = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, number);
    const target = url.pathname + url.search;
    const fault = faults?.(name, number, target);
    const body = await request.text();
    const nowMs = clock();
    const accounts = this.#options.accounts ?? [ACCOUNTS[name].account];
    const { account = accounts[0] ?? '', segment = '' } = route.pattern.exec(called)?.groups ?? {};
    const answer = this.#decide(route, accounts, {
      ...{ url, headers, body, nowMs, fault, account, segment },
      options: this.#options,
      tokens: this.#tokens,
      programmes: (network = name) => this.ledger.programmes(network, nowMs),
      listed: (filters, atMs = nowMs) =>
        this.#rowsOf(route, atMs).filter(({ times }) =>
          Object.entries(filters).every(([filter, { fromMs, toMs }]) => {
            const ms = times[filter];
            return ms !== undefined && fromMs <= ms && ms < toMs;
          }),
        ),
    });
    onResponse?.({ network: name, method, target, status: answer.status, fault, atMs: nowMs });
    return send(answer, fault, new Random(seed, name, number));
  }

  #rowsOf({ name, network }: Route, nowMs: number): readonly ListedRow[] {
    const { rows } = this.#options;
    return rows?.() ?? this.ledger.sales(name, nowMs).flatMap((sale) => network.listSale(sale, nowMs));
  }

  #decide({ network, rate, answer }: Route, accounts: readonly string[], request: NetworkRequest): Response {
    const { nowMs, fault } = request;
    const { isAllowed, left, waitMs } = this.#count(rate, nowMs);
    const withRate = (response: Response, leftNow: number, ms: number) => {
      const headers = Object.entries(network.rateHeaders?.(leftNow, ms, rate) ?? {});
      for (const [name, value] of headers) response.headers.set(name, value);
      return response;
    };
    // The wait after an injected fault is short, so that tests end soon.
    if (!isAllowed || fault === 'too many requests') {
      const refusal = network.failure(network.tooManyStatus ?? 429, 'Too many requests', request);
      return withRate(refusal, 0, isAllowed ? SECOND_MS : waitMs);
    }
    if (fault === 'retry after')
      return new Response('Slow down', { status: 429, headers: { 'Retry-After': '1' } });
    if (!network.isAuthorised(request)) return network.failure(401, 'The credentials are invalid', request);
    if (fault === 'server error') {
      const status = new Random(nowMs).pick([500, 502, 503]);
      return new Response(`<html><h1>${status}</h1></html>`, { status, headers: HTML });
    }
    if (fault === 'page') return new Response(MAINTENANCE, { headers: HTML });
    if (fault === 'blank') return new Response('');
    if (!accounts.includes(request.account))
      return network.failure(403, 'You do not have access to this account', request);
    try {
      return withRate(answer(request), left, waitMs);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return network.failure(error.status, error.message, request);
    }
  }

  /** Counts a request in a sliding window. Rejected requests do not count. */
  #count(rate: Rate, nowMs: number) {
    const { requests, perMs } = rate;
    if (this.#options.areRatesEnforced === false) return { isAllowed: true, left: requests, waitMs: 0 };
    const recent = (this.#accepted.get(rate) ?? []).filter((atMs) => atMs > nowMs - perMs);
    const isAllowed = recent.length < requests;
    if (isAllowed) recent.push(nowMs);
    this.#accepted.set(rate, recent);
    return { isAllowed, left: requests - recent.length, waitMs: (recent[0] ?? nowMs) + perMs - nowMs };
  }
}

const HTML = { 'Content-Type': 'text/html' };
const MAINTENANCE = '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>';

/** Sends a response; with the faults 'cut' and 'reset', only its beginning. */
async function send(answer: Response, fault: Fault | undefined, random: Random): Promise<Response> {
  if (fault !== 'cut' && fault !== 'reset') return answer;
  const bytes = await answer.bytes();
  const part = bytes.slice(0, Math.floor(random.between(0.05, 0.95) * bytes.length));
  const { status, headers } = answer;
  if (fault === 'cut') return new Response(part, { status, headers });
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(part);
    },
    async pull(controller) {
      // Let the part above be sent first.
      await Bun.sleep(1);
      controller.error();
    },
  });
  return new Response(stream, { status, headers });
}
