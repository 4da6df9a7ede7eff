// Serves one of the organisation's transactions from the database, always in its current version.

import { ApiError } from '../../domain/api-errors.ts';
import { useDatabase } from '../../tracing/tracer.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { entityTag, matchesTag } from '../content/entity-tag.ts';
import { withinDeadline } from './database-deadline.ts';
import { expandRetailers } from './expand-retailers.ts';
import type { Handler, Services } from './operation.ts';
import { PRIVATE_HEADERS, privateReply } from './private-reply.ts';
import { parsePathId, parseQuery } from './query.ts';

export const TRANSACTION_ITEM_PARAMETERS = ['expand'] as const;

export function transactionRoute({ transactions, transactionQueue, catalogue }: Services): Handler {
  return async (exchange, token) => {
    const id = parsePathId(exchange.parameters);
    const { expand } = parseQuery(exchange.search, TRANSACTION_ITEM_PARAMETERS);
    const find = async () => {
      const data = await transactions.find(token.orgId, id);
      if (data === undefined || expand === undefined) return data;
      return (await expandRetailers({ data }, token.orgId, transactions, catalogue)).data;
    };
    const document = await withinDeadline(
      transactionQueue.run(token, () => useDatabase(exchange.span, 'SELECT', 'transactions', find)),
    );
    if (document === undefined)
      throw new ApiError('transaction_not_found', 'No transaction of your organisation has this id.');
    const { headers: sent } = exchange.request;
    const tag = entityTag(document, chooseCoding(sent.get('Accept-Encoding'), document.length));
    if (!matchesTag(sent.get('If-None-Match'), tag)) return privateReply(exchange, { ETag: tag }, [document]);
    return { status: 304, headers: new Headers({ ...PRIVATE_HEADERS, ETag: tag }), body: null };
  };
}
