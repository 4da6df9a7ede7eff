// Serves one of the organisation's transactions from the database, always in its current version.

import { ApiError } from '../../domain/api-errors.ts';
import { useDatabase } from '../../tracing/tracer.ts';
import { chooseCoding, compressAside } from '../content/content-coding.ts';
import { entityTag, matchesTag } from '../content/entity-tag.ts';
import { withinDeadline } from './database-deadline.ts';
import { expandRetailers } from './expand-retailers.ts';
import type { Answer, Services } from './operation.ts';
import { parsePathId, parseQuery } from './query.ts';

export const TRANSACTION_ITEM_PARAMETERS = ['expand'] as const;

export function transactionRoute({ transactions, transactionQueue, catalogue }: Services): Answer {
  return async (exchange, token) => {
    const id = parsePathId(exchange.parameters);
    const { expand } = parseQuery(exchange.search, TRANSACTION_ITEM_PARAMETERS);
    const find = async () => {
      const data = await transactions.find(token.orgId, id);
      if (data === undefined || expand === undefined) return data;
      return (await expandRetailers({ data }, transactions, catalogue)).data;
    };
    const document = await withinDeadline(
      transactionQueue.run(token, () => useDatabase(exchange.span, 'SELECT', 'transactions', find)),
    );
    if (document === undefined)
      throw new ApiError('transaction_not_found', 'No transaction of your organisation has this id.');
    const { headers: sent } = exchange.request;
    const coding = chooseCoding(sent.get('Accept-Encoding'), document.length);
    const tag = entityTag(document, coding);
    const headers = new Headers({
      // Caches must not store transactions, but a client can revalidate a copy of its own.
      'Cache-Control': 'private, no-store',
      Vary: 'Authorization, Accept-Encoding',
      ETag: tag,
    });
    if (matchesTag(sent.get('If-None-Match'), tag)) return { status: 304, headers, body: null };
    headers.set('Content-Type', 'application/json');
    if (coding === undefined) return { status: 200, headers, body: [document] };
    headers.set('Content-Encoding', coding);
    return { status: 200, headers, body: [await compressAside(coding, document)] };
  };
}
