// The HTTP application: one function from a request to a response. It knows the order of the stages and
// nothing else; each stage is a file of its own.
//
//   URL length → route → preflight or method → token → kind of token → rate limit → parameters → answer

import type { Logger } from 'pino';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { ApiError } from '../domain/api-errors.ts';
import { DatabaseUnavailable } from '../domain/failures.ts';
import type { TransactionStore, WalkStore } from '../domain/stores.ts';
import { clientAddress, forwardedScheme, networkOf } from './access/client-address.ts';
import { CORS_HEADERS, isPreflight, pageOrigin, preflightReply } from './access/cors.ts';
import { type RateLimitSettings, rateLimits } from './access/rate-limit.ts';
import type { CounterMaker } from './access/request-counter.ts';
import type { TokenDirectory } from './access/token-directory.ts';
import { lateBody, readyBody } from './content/response-body.ts';
import { type Exchange, openExchange, type Route } from './exchange.ts';
import type { Metrics } from './metrics.ts';
import { operationRoutes } from './operations/operation-routes.ts';
import { problem } from './problem.ts';
import type { Reply } from './reply.ts';
import { requestLog } from './request-log.ts';
import { sitePages } from './site/site.ts';

const URL_LENGTH_MAX = 8 * 1024;

export interface AppSettings extends RateLimitSettings {
  readonly pageSize: number;
  /** Where callers reach the service, when that is not where it listens. */
  readonly publicUrl: string | undefined;
  readonly trustedProxies: readonly string[];
  /** Whether the page at `/` shows the catalogue. */
  readonly explorer: 'on' | 'off';
  /** Origins from which that page may load logos, or `https:` for all. */
  readonly explorerLogos: readonly string[];
}

export interface AppDependencies {
  readonly catalogue: Catalogue;
  readonly tokens: TokenDirectory;
  readonly transactions: Pick<TransactionStore, 'page'>;
  readonly walks: WalkStore;
  /** How requests are counted: in this process, or together with others. */
  readonly requestCounter: CounterMaker;
  /** Whether this node should get requests: everything is loaded, and it is not shutting down. */
  readonly isReady: () => boolean;
  /** Whether what requests need from the database can be had. */
  readonly isDatabaseUsable: () => boolean;
  /** Told of each request that failed because the database could not be used. */
  readonly onDatabaseFailure: (error: DatabaseUnavailable) => void;
  /** Whether callers should take their next request elsewhere while this node still listens. */
  readonly isLeaving: () => boolean;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly settings: AppSettings;
  /** A public token that everyone who opens the pages may use: the sandbox's. */
  readonly pageToken?: string | undefined;
  /** Routes beside those of the service: the sandbox's logos. */
  readonly extraRoutes?: readonly Route[] | undefined;
}

export type App = (request: Request, socketAddress: string) => Response | Promise<Response>;

export function buildApp(dependencies: AppDependencies): App {
  const { logger, settings } = dependencies;
  const logRequest = requestLog(logger);
  const addressOf = clientAddress(settings.trustedProxies);
  const schemeOf = forwardedScheme(settings.trustedProxies);
  const limits = rateLimits(settings, dependencies.requestCounter);
  const routes = routeTable([
    ...operationRoutes(dependencies, limits),
    ...sitePages(dependencies, { ...settings, pageToken: dependencies.pageToken }),
    ...(dependencies.extraRoutes ?? []),
  ]);

  function findRoute(exchange: Exchange): Route {
    const { path, search } = exchange;
    const route = routes(path);
    if (route !== undefined) {
      exchange.route = route.path;
      // Whether pages may read the answer holds for the first error, too.
      exchange.openToBrowsers = route.openToBrowsers;
    }
    if (path.length + search.length >= URL_LENGTH_MAX) {
      throw new ApiError('uri_too_long', `The URL must not be longer than ${URL_LENGTH_MAX} bytes.`);
    }
    if (route === undefined) {
      // People see this, too: whoever mistypes a page's address in a browser.
      throw new ApiError(
        'not_found',
        'There is nothing at this path. What there is stands in the API reference at /docs.',
      );
    }
    return route;
  }

  function serve(exchange: Exchange): Response | Promise<Response> {
    const { request } = exchange;
    const route = findRoute(exchange);
    if (route.openToBrowsers && isPreflight(request)) return respond(exchange, preflightReply());
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ApiError('method_not_allowed', 'Use GET or HEAD.', { headers: { Allow: 'GET, HEAD' } });
    }
    const admitted = route.admit?.(exchange);
    return admitted === undefined ? answer(route, exchange) : admitted.then(() => answer(route, exchange));
  }

  function answer(route: Route, exchange: Exchange): Response | Promise<Response> {
    const reply = route.answer(exchange);
    if (!(reply instanceof Promise)) return respond(exchange, reply);
    const toBody = exchange.request.method === 'HEAD' ? readyBody : lateBody;
    return reply.then((late) => respond(exchange, late, toBody));
  }

  function respond(exchange: Exchange, reply: Reply, toBody = readyBody): Response {
    const durationMs = performance.now() - exchange.startedAtMs;
    dependencies.metrics?.count(exchange.route, reply.status, durationMs);
    logRequest({
      requestId: exchange.requestId,
      tokenId: exchange.token?.id,
      method: exchange.request.method,
      route: exchange.route,
      status: reply.status,
      durationMs: Math.round(durationMs * 1000) / 1000,
      address: exchange.address,
    });
    const headers = reply.headers instanceof Headers ? reply.headers : new Headers(reply.headers);
    headers.set('Request-Id', exchange.requestId);
    if (exchange.openToBrowsers) setAll(headers, CORS_HEADERS);
    if (dependencies.isLeaving()) headers.set('Connection', 'close');
    if (exchange.rateLimit !== undefined) setAll(headers, exchange.rateLimit.headers);
    if (reply.ownHeaders !== undefined) setAll(headers, reply.ownHeaders);
    return new Response(toBody(reply.body), { status: reply.status, headers });
  }

  function fail(exchange: Exchange, error: unknown): Response {
    const shown =
      error instanceof ApiError
        ? error
        : new ApiError('internal', 'Something went wrong on our side.', { cause: error });
    if (shown.cause instanceof DatabaseUnavailable) {
      // Everybody who asks during an outage comes here. Where in the code they were says nothing about it.
      logger.warn({ requestId: exchange.requestId, reason: shown.cause.message }, shown.code);
      dependencies.onDatabaseFailure(shown.cause);
    } else if (shown.cause !== undefined) {
      logger.error({ requestId: exchange.requestId, err: shown.cause }, shown.code);
    }
    if (tellsOfPrivateTokenInPage(shown, exchange)) {
      const { requestId, token, address, request } = exchange;
      logger.warn(
        { requestId, tokenId: token?.id, org: token?.orgName, address, origin: pageOrigin(request) },
        'a private token was used in a browser',
      );
    }
    // An error that came before the token was looked at counts for nobody, but shows what the address has left.
    exchange.rateLimit ??= limits.failed.peek(networkOf(exchange.address));
    return respond(exchange, problem(shown, exchange));
  }

  return (request, socketAddress) => {
    const exchange = openExchange(request, {
      address: addressOf(socketAddress, request.headers),
      publicUrl: settings.publicUrl,
      scheme: schemeOf(socketAddress, request.headers),
      startedAtMs: performance.now(),
    });
    try {
      const response = serve(exchange);
      return response instanceof Promise ? response.catch((error) => fail(exchange, error)) : response;
    } catch (error) {
      return fail(exchange, error);
    }
  };
}

/** Where the catalogue refuses the token for its kind, the page has given it away all the same. */
function tellsOfPrivateTokenInPage({ code }: ApiError, { token, request }: Exchange): boolean {
  if (code === 'private_token_in_browser') return true;
  return code === 'wrong_token_kind' && token?.kind === 'private' && request.headers.has('Origin');
}

function setAll(headers: Headers, more: Readonly<Record<string, string>>): void {
  for (const name in more) headers.set(name, more[name] as string);
}

/** Operations and pages are served with and without the trailing slash: a redirect would drop the Authorization header. */
function routeTable(routes: readonly Route[]): (path: string) => Route | undefined {
  const byPath = new Map<string, Route>();
  for (const route of routes) {
    byPath.set(route.path, route);
    if (route.path !== '/' && route.path.endsWith('/')) byPath.set(route.path.slice(0, -1), route);
  }
  return (path) => byPath.get(path);
}
