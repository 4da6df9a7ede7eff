// The routes of the five operations: who is calling, may they, have they called too often, then the answer.
// Nothing waits unless it must: a catalogue page for a known token is answered in one go.

import type { AccessToken } from '../../domain/access-token.ts';
import { ApiError, ERRORS } from '../../domain/api-errors.ts';
import { authenticate, requireKind } from '../access/authenticate.ts';
import { networkOf } from '../access/client-address.ts';
import type { RateLimitState, RateLimits } from '../access/rate-limit.ts';
import type { AppDependencies } from '../app.ts';
import type { Exchange, Route } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import { catalogueRoute } from './catalogue-route.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { transactionsRoute } from './transactions-route.ts';

export function operationRoutes(dependencies: AppDependencies, limits: RateLimits): Route[] {
  const { catalogue, tokens, settings } = dependencies;
  const answerCatalogue = catalogueRoute(catalogue, settings.pageSize);
  const answerTransactions = transactionsRoute(dependencies, settings.pageSize);

  function admit(exchange: Exchange, operation: Operation, token: AccessToken): void {
    exchange.token = token;
    requireKind(token, operation.tokenKind, exchange.request.headers);
    // Browsers share a public token; one that is out of hand must not use up the share of the others.
    const key = token.kind === 'public' ? `${token.id} ${networkOf(exchange.address)}` : token.id;
    count(exchange, limits[token.kind].take(key));
  }

  function refuse(exchange: Exchange, error: unknown): never {
    const status = error instanceof ApiError ? ERRORS[error.code].status : undefined;
    if (status === 401 || status === 403) count(exchange, limits.failed.take(networkOf(exchange.address)));
    throw error;
  }

  function identify(exchange: Exchange, operation: Operation): void | Promise<void> {
    try {
      const token = authenticate(exchange.request.headers.get('Authorization'), tokens);
      if (!(token instanceof Promise)) return admit(exchange, operation, token);
      return token.then((late) => admit(exchange, operation, late)).catch((error) => refuse(exchange, error));
    } catch (error) {
      return refuse(exchange, error);
    }
  }

  function serve(exchange: Exchange, operation: Operation): Reply | Promise<Reply> {
    if (operation.list !== undefined) return answerCatalogue(exchange, operation.list, operation.parameters);
    if (exchange.token === undefined)
      throw new Error('a request for transactions was let through without a token');
    return answerTransactions(exchange, exchange.token);
  }

  return OPERATIONS.map((operation) => ({
    path: operation.path,
    openToBrowsers: operation.tokenKind === 'public',
    admit: (exchange) => identify(exchange, operation),
    answer: (exchange) => serve(exchange, operation),
  }));
}

function count(exchange: Exchange, state: RateLimitState): void {
  exchange.rateLimit = state;
  if (!state.exceeded) return;
  throw new ApiError('rate_limited', `Too many requests. Try again in ${state.retryAfterS} s.`, {
    headers: { 'Retry-After': String(state.retryAfterS) },
  });
}
