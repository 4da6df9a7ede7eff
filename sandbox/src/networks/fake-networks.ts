// The five fake networks behind one address. Their paths differ, so a client needs only one base URL.

import { SECOND_MS } from '@offerbook/wire/time.ts';
import { Random } from '../random.ts';
import type { NetworkName } from './accounts.ts';
import { type Answer, type FakeNetwork, json, type NetworkRequest, type Rate } from './answer.ts';
import { fakeAwin } from './awin.ts';
import { fakeCj } from './cj.ts';
import { type Fault, type FaultPlan, HONEST } from './faults.ts';
import { fakeImpact } from './impact.ts';
import { Ledger, type LedgerOptions } from './ledger.ts';
import { fakePartnerize } from './partnerize.ts';
import { fakeRakuten, type RakutenOptions } from './rakuten.ts';
import { RequestLimit } from './request-limit.ts';

export interface FakeNetworksOptions extends LedgerOptions, RakutenOptions {
  readonly clock: () => number;
  /** Default: no faults. */
  readonly faults?: FaultPlan;
  /** False to accept any number of requests. Default: true. */
  readonly areRatesEnforced?: boolean;
  /** Maximum number of rows per page; for CJ, of records per response. Default: the networks' own limits. */
  readonly pageSizeMax?: number;
  readonly onAnswer?: (entry: AnsweredRequest) => void;
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

export class FakeNetworks {
  readonly ledger: Ledger;
  readonly #options: FakeNetworksOptions;
  readonly #networks: readonly FakeNetwork[];
  readonly #limit = new RequestLimit();
  readonly #counts = new Map<NetworkName, number>();

  constructor(options: FakeNetworksOptions) {
    this.#options = options;
    this.ledger = new Ledger(options);
    this.#networks = [
      fakeAwin(this.ledger, options.pageSizeMax),
      fakeImpact(this.ledger, options.pageSizeMax),
      fakePartnerize(this.ledger, options.pageSizeMax),
      fakeCj(this.ledger, options.pageSizeMax),
      fakeRakuten(this.ledger, options),
    ];
  }

  async answer(request: Request): Promise<Response> {
    const { seed, clock, faults = HONEST, onAnswer } = this.#options;
    const { method } = request;
    const url = new URL(request.url);
    for (const network of this.#networks) {
      for (const route of network.routes) {
        const match = route.path.exec(url.pathname);
        if (match === null || route.method !== method) continue;
        const number = (this.#counts.get(network.name) ?? 0) + 1;
        this.#counts.set(network.name, number);
        const target = url.pathname + url.search;
        const fault = faults.draw(network.name, number, target);
        const body = method === 'GET' ? '' : await request.text();
        const nowMs = clock();
        const asked: NetworkRequest = { method, url, headers: request.headers, body, nowMs, fault };
        const answer = this.#decide(network, route.rate, asked, () => route.answer(asked, ...match.slice(1)));
        onAnswer?.({ network: network.name, method, target, status: answer.status, fault, atMs: nowMs });
        return send(answer, fault, new Random(seed, network.name, number));
      }
    }
    return send(json({ error: 'not found' }, 404), undefined, new Random(seed));
  }

  #decide(network: FakeNetwork, rate: Rate, request: NetworkRequest, answer: () => Answer): Answer {
    const { areRatesEnforced = true } = this.#options;
    const { nowMs, fault } = request;
    const { isAllowed, left, waitMs } = areRatesEnforced
      ? this.#limit.count(rate, nowMs)
      : { isAllowed: true, left: rate.requests, waitMs: 0 };
    if (!isAllowed) return network.tooMany(waitMs, rate);
    // Short, so that tests need not wait.
    if (fault === 'too many requests') return network.tooMany(SECOND_MS, rate);
    if (fault === 'retry after') return { status: 429, body: 'Slow down', headers: { 'Retry-After': '1' } };
    const refused = network.refuse(request);
    if (refused !== undefined) return refused;
    if (fault === 'server error') {
      const status = new Random(nowMs).pick([500, 502, 503]);
      return { status, body: `<html><h1>${status}</h1></html>`, headers: HTML };
    }
    if (fault === 'page') return { status: 200, body: MAINTENANCE, headers: HTML };
    if (fault === 'blank') return { status: 200, body: '' };
    const given = answer();
    return { ...given, headers: { ...network.rateHeaders?.(left, waitMs, rate), ...given.headers } };
  }
}

const HTML = { 'Content-Type': 'text/html' };
const MAINTENANCE = '<!doctype html><title>Maintenance</title><p>We will be back soon.</p>';

/** Sends a response; with the faults 'cut', 'reset' and 'stall', only its beginning. */
function send({ status, body, headers = {} }: Answer, fault: Fault | undefined, random: Random): Response {
  const bytes = new TextEncoder().encode(body);
  const part = bytes.slice(0, Math.floor(random.between(0.05, 0.95) * bytes.length));
  if (fault === 'cut') return new Response(part, { status, headers });
  if (fault !== 'reset' && fault !== 'stall') return new Response(bytes, { status, headers });
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(part);
    },
    async pull(controller) {
      if (fault === 'stall') await new Promise(() => {});
      // Let the part above be sent first.
      await Bun.sleep(1);
      controller.error();
    },
  });
  return new Response(stream, { status, headers });
}
