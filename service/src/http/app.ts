// The HTTP application: a function from a request to a response. It defines the order of the stages; each stage has its own
// file.
//
//   host → URL length → route → preflight or method → token → token kind → rate limit → parameters → response

import type { GuestAccess } from '@offerbook/site/explorer-page.ts';
import type { Activation } from '../activation/activation.ts';
import { ApiError, ERRORS, URL_LENGTH_MAX, unavailable } from '../domain/api-errors.ts';
import { boundedLog, type Logger } from '../domain/logger.ts';
import { isStorageError, type StorageError } from '../domain/storage-error.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { clientReader } from './access/client-address.ts';
import { CORS_HEADERS, isPreflight, preflightReply } from './access/cors.ts';
import { type RateLimitSettings, rateLimits } from './access/rate-limit.ts';
import type { RequestCounts } from './access/request-counts.ts';
import type { TokenDirectory } from './access/token-directory.ts';
import { nextTurn, TurnBudget } from './access/turn-budget.ts';
import { prefersHtml } from './content/qualities.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { type ActivationSettings, activationRoutes } from './operations/activate.ts';
import type { DataSources } from './operations/operation.ts';
import { operationRoutes } from './operations/operation-routes.ts';
import { buildSite, type SiteSettings } from './pages/site.ts';
import type { Health } from './readiness.ts';
import { problem, type Reply, responseBody } from './reply.ts';
import { type LoggedRequests, logRequest } from './request-log.ts';
import { beginRequestSpan, endRequestSpan } from './request-span.ts';
import { buildRouter, type Resource, type Route } from './router.ts';

interface AppSettings extends RateLimitSettings, SiteSettings, ActivationSettings {
  readonly trustedProxies: readonly string[];
  readonly logRequests: LoggedRequests;
}

/** Routes and guest access, added by a program that embeds the service. */
export interface AppExtension {
  readonly routes: readonly Route[];
  readonly guest: GuestAccess;
}

interface AppDependencies extends DataSources {
  readonly extension?: AppExtension | undefined;
  /** Undefined if activation is off. */
  readonly activation: Activation | undefined;
  readonly tokens: TokenDirectory;
  readonly requestCounts: RequestCounts;
  readonly health: () => Health;
  /** Returns the server's own URL. Called when the documentation is first requested. */
  readonly localUrl: () => string;
  /** Called for each request that fails because the database is unusable. */
  readonly onDatabaseFailure: (error: StorageError) => void;
  /** True while the node is shutting down. Responses then ask clients to close the connection. */
  readonly isLeaving: () => boolean;
  readonly logger: Logger;
  /** Undefined if tracing is off. */
  readonly tracer?: Tracer | undefined;
  readonly settings: AppSettings;
}

/** `peer` is the address of the socket's other end. */
export type App = (request: Request, peer: string) => Promise<Response>;

export function buildApp(dependencies: AppDependencies): App {
  const { activation, extension, logger, settings, tally, tracer } = dependencies;
  const readClient = clientReader(settings.trustedProxies);
  const turn = new TurnBudget();
  const limits = rateLimits(settings, dependencies.requestCounts);
  const logUnavailable = boundedLog((fields) => logger.warn(fields, 'unavailable'));
  const site = buildSite({ ...settings, guest: extension?.guest }, dependencies);
  const findRoute = buildRouter([
    ...operationRoutes({ ...dependencies, pageSize: settings.pageSize, limits, turn }),
    ...(activation === undefined ? [] : activationRoutes(activation, limits, settings)),
    ...site.routes,
    ...(extension?.routes ?? []),
  ]);

  /** Throws an ApiError, or rejects with one, for errors that the client should see. */
  function serve(exchange: Exchange): Reply | Promise<Reply> {
    const { request, path, search } = exchange;
    const found = findRoute(path);
    const route = found?.resource.routes.get(request.method);
    if (found !== undefined) {
      exchange.route = found.resource.path;
      exchange.parameters = found.parameters;
      // Set before the checks, because error responses also use these fields.
      exchange.isLink = route?.isLink ?? false;
      exchange.openToBrowsers = route?.openToBrowsers ?? found.resource.allowFromPages !== '';
    }
    // If there are several Host headers, Bun joins them with commas, but uses only the first for the URL.
    if (request.headers.get('Host')?.includes(',') === true) {
      throw new ApiError('several_hosts', ERRORS.several_hosts.detail);
    }
    if (path.length + search.length >= URL_LENGTH_MAX) {
      throw new ApiError('uri_too_long', ERRORS.uri_too_long.detail);
    }
    if (found !== undefined) return route?.answer(exchange) ?? answerWithoutRoute(request, found.resource);
    if (prefersHtml(request.headers.get('Accept'))) return site.notFound(exchange);
    throw new ApiError('not_found', notFoundDetail(path));
  }

  function respond(exchange: Exchange, reply: Reply): Response {
    const durationMs = performance.now() - exchange.startedAtMs;
    tally.answered(exchange.route, reply.status, durationMs, exchange.token);
    logRequest(logger, exchange, reply.status, durationMs, settings.logRequests);
    const { headers } = reply;
    setHeaders(reply, exchange);
    const response = new Response(responseBody(reply.body, exchange.request.method), {
      status: reply.status,
      headers,
    });
    if (dependencies.isLeaving()) response.headers.set('Connection', 'close');
    if (exchange.span !== undefined) endRequestSpan(exchange.span, exchange, reply.status);
    return response;
  }

  async function fail(exchange: Exchange, error: unknown): Promise<Reply> {
    const shown = toApiError(error);
    if (isStorageError(shown.cause)) {
      // During an outage, every request lands here; a stack trace adds nothing.
      logUnavailable({ requestId: exchange.requestId, reason: shown.cause.message });
      dependencies.onDatabaseFailure(shown.cause);
    } else if (shown.cause !== undefined) {
      logger.error({ requestId: exchange.requestId, err: shown.cause }, shown.code);
    }
    tally.failed(shown.code, exchange.route, exchange.token, exchange.requestId);
    if (exchange.isLink && prefersHtml(exchange.request.headers.get('Accept')))
      return site.linkError(shown, exchange);
    return problem(shown, exchange);
  }

  return async (request, peer) => {
    const startedAtMs = performance.now();
    const { address, scheme, trace } = readClient(peer, request.headers);
    const exchange = openExchange(request, {
      address,
      publicUrl: settings.publicUrl,
      scheme,
      span: tracer && beginRequestSpan(tracer, trace, request, scheme ?? 'http'),
      startedAtMs,
    });
    if (turn.isSpent(startedAtMs)) await nextTurn();
    let reply: Reply;
    try {
      const answer = serve(exchange);
      // Awaiting a reply that is already known would make Bun copy the request.
      reply = answer instanceof Promise ? await answer : answer;
    } catch (error) {
      reply = await fail(exchange, error);
    }
    return respond(exchange, reply);
  };
}

/** Storage failures become 503, because the client can only retry. Any other error is a bug. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isStorageError(error)) return unavailable(ERRORS.unavailable.detail, 2, error);
  return new ApiError('internal', ERRORS.internal.detail, { cause: error });
}

function notFoundDetail(path: string): string {
  if (/^\/v1\/v1(\/|$)/.test(path))
    return 'No such path: it contains /v1 twice. Remove /v1 from the base URL.';
  return ERRORS.not_found.detail;
}

/** Answers preflights; other methods get 405. */
async function answerWithoutRoute(request: Request, { allow, allowFromPages }: Resource): Promise<Reply> {
  if (allowFromPages !== '' && isPreflight(request)) return preflightReply(request, allowFromPages);
  throw new ApiError('method_not_allowed', `Use ${allow.replace(/, (?=\w+$)/, ' or ')}.`, {
    headers: { Allow: allow },
  });
}

/** Adds headers to the reply. A cached reply keeps its headers between responses, so only missing or changed ones are set. */
function setHeaders({ headers, sent, isShared, cacheControl, link }: Reply, exchange: Exchange): void {
  const { requestId, rateLimit, openToBrowsers } = exchange;
  if (isShared !== true) headers.set('Request-Id', requestId);
  if (rateLimit?.header !== undefined) headers.set('RateLimit', rateLimit.header);
  if (sent?.hasCommon !== true) {
    if (rateLimit?.policyHeader !== undefined) headers.set('RateLimit-Policy', rateLimit.policyHeader);
    if (openToBrowsers) for (const name in CORS_HEADERS) headers.set(name, CORS_HEADERS[name] ?? '');
  }
  if (sent === undefined) return;
  sent.hasCommon = true;
  if (cacheControl !== undefined && cacheControl !== sent.cacheControl) {
    headers.set('Cache-Control', cacheControl);
    sent.cacheControl = cacheControl;
  }
  if (link !== undefined && link !== sent.link) {
    headers.set('Link', link);
    sent.link = link;
  }
}
