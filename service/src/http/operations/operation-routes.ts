// Builds a route for each operation. The route authenticates the client, checks the token's kind and the rate limit, and calls
// the operation.

import type { AccessToken } from '../../domain/access-token.ts';
import { ApiError, ERRORS } from '../../domain/api-errors.ts';
import type { Logger } from '../../domain/logger.ts';
import { findNew, isFromBrowser, pageOrigin, readBearer, requireKind } from '../access/authenticate.ts';
import { ipNetworkOf } from '../access/client-address.ts';
import { countRequest, type RateLimits } from '../access/rate-limit.ts';
import type { TokenDirectory } from '../access/token-directory.ts';
import type { TurnBudget } from '../access/turn-budget.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { concurrencyLimit } from './concurrency-limit.ts';
import type { Operation, Services } from './operation.ts';
import { OPERATIONS } from './operations.ts';

/** Two per connection: PostgreSQL always has the next query waiting, which raises throughput by 20 %. */
export const READS_AT_ONCE_MAX = 14;
/** Pollers arrive in bursts, so queue them. Instant 503s would make thousands of clients retry in a tight loop. */
const WAIT_MAX_MS = 500;

interface OperationParts extends Omit<Services, 'transactionQueue'> {
  readonly tokens: TokenDirectory;
  readonly limits: RateLimits;
  readonly turn: TurnBudget;
  readonly logger: Logger;
}

export function operationRoutes({ tokens, limits, turn, logger, ...sources }: OperationParts): Route[] {
  const services: Services = {
    ...sources,
    transactionQueue: concurrencyLimit({ runningMax: READS_AT_ONCE_MAX, waitMaxMs: WAIT_MAX_MS }, turn),
  };

  /** Throws ApiError if the client is not allowed to call the operation or exceeds the rate limit. */
  function admit(exchange: Exchange, token: AccessToken, { tokenKind }: Operation): void {
    exchange.token = token;
    warnOfPrivateTokenInPage(exchange, token);
    requireKind(token, tokenKind, exchange.request.headers);
    // Browsers share a public token, and one browser must not use up the limit for the others.
    const key = token.kind === 'public' ? `${token.id} ${ipNetworkOf(exchange.address)}` : token.id;
    countRequest(exchange, limits[token.kind](key));
  }

  /** Throws the error. Counts 401 and 403 errors per network, and throws `rate_limited` instead if there were too many. */
  function reject(exchange: Exchange, error: unknown): never {
    const status = error instanceof ApiError ? ERRORS[error.code].status : undefined;
    if (status === 401 || status === 403)
      countRequest(exchange, limits.failed(ipNetworkOf(exchange.address)));
    throw error;
  }

  /** Logs a warning even if the request fails, because the page has already leaked the token. */
  function warnOfPrivateTokenInPage({ request, requestId, address }: Exchange, token: AccessToken): void {
    if (token.kind !== 'private' || !isFromBrowser(request.headers)) return;
    const origin = pageOrigin(request.headers);
    logger.warn(
      { requestId, tokenId: token.id, org: token.orgName, address, origin },
      'private token used in a browser',
    );
  }

  return OPERATIONS.map((operation) => {
    const answer = operation.answer(services);
    /** Looks up a token that is not in memory. */
    async function answerUnknown(exchange: Exchange, text: string): Promise<Reply> {
      const token = await findNew(text, tokens, exchange.span);
      admit(exchange, token, operation);
      return answer(exchange, token);
    }
    return {
      method: 'GET',
      path: operation.path,
      openToBrowsers: operation.tokenKind === 'public',
      // Not async, because Bun sends a response faster if it does not have to wait for a promise.
      answer(exchange) {
        try {
          const text = readBearer(exchange.request.headers.get('Authorization'), exchange.search);
          const token = tokens.findKnown(text);
          if (token === undefined)
            return answerUnknown(exchange, text).catch((error) => reject(exchange, error));
          admit(exchange, token, operation);
          return answer(exchange, token);
        } catch (error) {
          reject(exchange, error);
        }
      },
    };
  });
}
