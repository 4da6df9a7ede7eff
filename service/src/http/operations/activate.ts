// GET and POST /v1/{retailers, cashback-offers, coupons, promotions}/{id}/activate/, the same with the id in the query, and GET
// /go/{click}/. Users follow these links, so the links need no token. They redirect to a URL from the request only if it is a page
// on the retailer's own site.

import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { Activatable, Activation, ActivationRequest } from '../../activation/activation.ts';
import type { ClickOutcome } from '../../activation/click-tally.ts';
import { ApiError, ERRORS, unavailable } from '../../domain/api-errors.ts';
import type { ActivatedKind } from '../../domain/click.ts';
import { useDatabase } from '../../tracing/tracer.ts';
import { ipNetworkOf, siteOf } from '../access/client-address.ts';
import { countRequest, type RateLimitState, type RateLimits } from '../access/rate-limit.ts';
import type { Exchange } from '../exchange.ts';
import { json, type Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { withinDeadline } from './database-deadline.ts';
import { parseQuery } from './query.ts';
import { visitorReader } from './visitor.ts';

/** The lists whose items can be activated. `parameter` is the query parameter for the id. */
export const ACTIVATED = [
  { kind: 'retailers', path: '/v1/retailers/', parameter: 'retailerId' },
  { kind: 'cashbackOffers', path: '/v1/cashback-offers/', parameter: 'cashbackOfferId' },
  { kind: 'coupons', path: '/v1/coupons/', parameter: 'couponId' },
  { kind: 'promotions', path: '/v1/promotions/', parameter: 'promotionId' },
] as const satisfies readonly { kind: ActivatedKind; path: string; parameter: string }[];

export const ACTIVATION_PARAMETERS = ['orgId', 'passbackUid', 'passbackData', 'to'] as const;
/** Parameters of the link that POST returns. */
export const GO_PARAMETERS = ['to'] as const;
const REQUIRED = ['orgId', 'passbackUid'] as const;

/** A network (siteOf) with more clicks a minute counts as busy. */
const FEW_CLICKS = 10;

/** Every click must reach the server, shops must not see the referring page, and search engines must not index the link. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
};

/** Response header that reports what happened to the click. */
const CLICK_HEADER = 'Offerbook-Click';
const CLICK_HEADER_VALUES: Readonly<Record<ClickOutcome, string>> = {
  tracked: 'recorded',
  untracked: 'untracked',
  repeated: 'repeated',
  crawler: 'ignored; reason=crawler',
  preview: 'ignored; reason=preview',
  prefetch: 'ignored; reason=prefetch',
  embedded: 'ignored; reason=embedded',
  limited: 'ignored; reason=limit',
  lost: 'ignored; reason=unavailable',
};

export interface ActivationSettings {
  /** If `on`, visits by headless browsers and HTTP libraries count as clicks. */
  readonly countTestClients: 'on' | 'off';
}

type ReadRequest = (exchange: Exchange) => ActivationRequest;

export function activationRoutes(
  activation: Activation,
  limits: RateLimits,
  settings: ActivationSettings,
): Route[] {
  const visitorOf = visitorReader(settings.countTestClients);

  /** Counts an activation from the narrowest limit to the widest. A request above one limit does not count towards the next. */
  function takeFromLimits({ address }: Exchange, { orgId, ipNetwork }: ActivationRequest): RateLimitState {
    const own = limits.activation(`${orgId} ${ipNetwork}`);
    let last = own;
    if (!last.exceeded) last = limits.activationSite(`${orgId} ${siteOf(address)}`);
    if (!last.exceeded && last.count > FEW_CLICKS) last = limits.activationBusy(orgId);
    if (!last.exceeded) last = limits.activationOrg(orgId);
    if (!last.exceeded) return own;
    activation.tally.limited++;
    return last;
  }

  async function follow(exchange: Exchange, request: ActivationRequest): Promise<Reply> {
    const visitor = visitorOf(exchange.request);
    const deal = orItsRetailer(activation.find(request));
    if (visitor === 'prefetch') return prefetched();
    if (visitor !== 'person') return passBy(visitor, deal.url);
    // Above the limit, the link still works, but the click is not tracked: a broken link would cost sales.
    if (takeFromLimits(exchange, request).exceeded) return redirect(deal.url, 'limited');
    const { id, outcome } = await useDatabase(exchange.span, 'INSERT', 'clicks', () =>
      activation.activate(deal, request, 'follow'),
    );
    return redirect(id === undefined ? deal.url : activation.targetOf(deal, id), outcome);
  }

  /** Unlike follow(), fails if the activation cannot be recorded: a program can retry, a person cannot. */
  async function prepare(exchange: Exchange, request: ActivationRequest): Promise<Reply> {
    const deal = activation.find(request);
    if (!deal.isActive) throw new ApiError('deal_gone', ERRORS.deal_gone.detail);
    countRequest(exchange, takeFromLimits(exchange, request));
    const { id, outcome } = await useDatabase(exchange.span, 'INSERT', 'clicks', () =>
      activation.activate(deal, request, 'later'),
    );
    if (id === undefined) throw unavailable('The activation could not be recorded. Try again shortly.', 2);
    // The page is in the link, not in the database: which pages users look at is not stored.
    const page = request.to === undefined ? '' : `?to=${encodeURIComponent(request.to.href)}`;
    const headers = { 'Cache-Control': 'no-store', [CLICK_HEADER]: CLICK_HEADER_VALUES[outcome] };
    return json(200, { url: `${exchange.origin}/go/${id}/${page}` }, headers);
  }

  async function go(exchange: Exchange): Promise<Reply> {
    const visitor = visitorOf(exchange.request);
    if (visitor === 'prefetch') return prefetched();
    const { span, parameters, search, address } = exchange;
    const { to } = parseQuery(search, GO_PARAMETERS, { ignoresUnknown: true });
    const { id, orgId } = activation.parseClick(parameters.click ?? '');
    const state = limits.links(`${orgId} ${ipNetworkOf(address)}`);
    if (state.exceeded && !activation.isRecent(id)) {
      activation.tally.limited++;
      countRequest(exchange, state);
    }
    const finding = useDatabase(span, 'SELECT', 'clicks', () => activation.findClick(id, to));
    const { click, entry } = await withinDeadline(finding);
    const deal = orItsRetailer({ ...entry, kind: click.kind, dealId: click.dealId, orgId: click.orgId });
    if (visitor !== 'person') return passBy(visitor, deal.url);
    const outcome = await useDatabase(span, 'UPDATE', 'clicks', () => activation.visit(click));
    return redirect(activation.targetOf(deal, click.id), outcome);
  }

  function prefetched(): Reply {
    activation.tally.prefetch++;
    return { status: 204, headers: linkHeaders('prefetch'), body: null };
  }

  /** Redirects to the plain URL instead of the affiliate network, without recording a click. */
  function passBy(visitor: ClickOutcome, url: string): Reply {
    activation.tally[visitor]++;
    return redirect(url, visitor);
  }

  function link(path: string, answer: Route['answer']): Route {
    return { method: 'GET', path, openToBrowsers: false, isLink: true, answer };
  }

  function routes(path: string, read: ReadRequest): Route[] {
    return [
      link(path, (exchange) => follow(exchange, read(exchange))),
      {
        method: 'POST',
        path,
        openToBrowsers: true,
        answer: (exchange) => prepare(exchange, readPosted(exchange, read)),
      },
    ];
  }

  return [
    ...ACTIVATED.flatMap(({ kind, path, parameter }) => {
      const read: ReadRequest = ({ search, parameters: { id }, address, isLink }) => {
        const own = id === undefined ? [parameter] : [];
        const query = parseQuery(search, [...own, ...ACTIVATION_PARAMETERS], {
          required: [...own, ...REQUIRED],
          ignoresUnknown: isLink,
        });
        return {
          ...query,
          kind,
          id: id === undefined ? query[parameter] : parseUuid(id),
          ipNetwork: ipNetworkOf(address),
        };
      };
      return [`${path}{id}/activate/`, `${path}activate/`].flatMap((each) => routes(each, read));
    }),
    link('/go/{click}/', go),
  ];
}

/** Adds a hint to errors if the client sent a body, which probably contains the parameters. */
function readPosted(exchange: Exchange, read: ReadRequest): ActivationRequest {
  try {
    return read(exchange);
  } catch (error) {
    if (!(error instanceof ApiError) || !exchange.request.headers.has('Content-Type')) throw error;
    const hint = 'Send the parameters in the query string; the body is ignored.';
    throw new ApiError(error.code, `${error.message} ${hint}`, { errors: error.errors ?? [] });
  }
}

/** Replaces an inactive deal with its retailer. */
function orItsRetailer(deal: Activatable): Activatable {
  const { isActive, retailerId, retailerUrl } = deal;
  return isActive ? deal : { ...deal, kind: 'retailers', dealId: retailerId, url: retailerUrl };
}

/** Normalises the URL, because retailers' URLs can contain characters that are not allowed in headers. */
function redirect(url: string, outcome: ClickOutcome): Reply {
  const headers = linkHeaders(outcome);
  headers.set('Location', new URL(url).href);
  return { status: 302, headers, body: null };
}

function linkHeaders(outcome: ClickOutcome): Headers {
  return new Headers({ ...HEADERS, [CLICK_HEADER]: CLICK_HEADER_VALUES[outcome] });
}
