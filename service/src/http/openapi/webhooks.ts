// The webhooks section of the OpenAPI document: the requests that the service sends to a partner's endpoint.

import { objectSchema, type Schema, schemaRef } from './component-schemas.ts';
import { exampleItem } from './examples.ts';

const TIMESTAMP = { type: 'string', format: 'date-time-local' };
const TIMESTAMP_OR_NULL = { ...TIMESTAMP, type: ['string', 'null'] };

export const WEBHOOK_SCHEMAS: Record<string, Schema> = {
  TransactionsChanged: objectSchema('Body of a webhook: a page of changed transactions', {
    type: {
      type: 'string',
      enum: ['transactions.changed'],
      description: 'Kind of event',
      examples: ['transactions.changed'],
    },
    timestamp: {
      ...TIMESTAMP,
      description: 'When the page was read (UTC)',
      examples: ['2026-11-14T12:05:32.017'],
    },
    data: { description: 'The page', ...schemaRef('TransactionChanges') },
  }),
  TransactionChanges: objectSchema('A page of changed transactions', {
    transactions: {
      type: 'array',
      description:
        'Changed transactions in their current state, in order of `updatedAt`; at most 100, and empty if the operator tests the endpoint',
      items: schemaRef('Transaction'),
    },
    after: {
      ...TIMESTAMP_OR_NULL,
      description:
        'Earlier pages contained every change stamped at or before this time. Null on the first page of a webhook that starts, or is replayed, with the first transaction',
      examples: ['2026-11-14T12:00:00'],
    },
    completeThrough: {
      ...TIMESTAMP_OR_NULL,
      description:
        'With this page, you have received every change stamped at or before this time. Null if the operator tests the endpoint',
      examples: ['2026-11-14T12:05:31.482'],
    },
  }),
};

const HEADERS = {
  'webhook-id': ['Id of the page; the same if it is sent again', 'msg_1f8a5c02d7e94b6083d2c7a9e5f41b60'],
  'webhook-timestamp': ['When this attempt was sent, in seconds since 1970 (UTC)', '1794657932'],
  'webhook-signature': [
    'Signatures, separated by spaces: `v1,` and the Base64 of an HMAC-SHA256. There are two during a rotation of the secret',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
} as const;

/** `schemas` contains the transaction's schema, from which the example is built. */
export function webhooks(schemas: Readonly<Record<string, Schema>>) {
  return {
    'transactions.changed': {
      post: {
        operationId: 'transactionsChanged',
        summary: 'Changed transactions',
        description:
          'Sent to the endpoint that the operator has registered for your organisation, shortly after transactions have changed. Verify the signature (Standard Webhooks 1.0), store the page, and only then respond with 2xx. Upsert each transaction by `id` unless its `updatedAt` is older than that of your copy. After any other response or none within 15 seconds, the service sends the page again; there is no last attempt.',
        tags: ['Transactions'],
        security: [],
        parameters: Object.entries(HEADERS).map(([name, [description, example]]) => ({
          name,
          in: 'header',
          required: true,
          description,
          schema: { type: 'string' },
          example,
        })),
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: schemaRef('TransactionsChanged'),
              example: exampleItem('TransactionsChanged', schemas),
            },
          },
        },
        responses: {
          '2XX': { description: 'You have stored the page' },
          401: { description: 'The signature is invalid' },
          410: { description: 'You no longer want webhooks: the service pauses the endpoint' },
          503: { description: 'You could not store the page. `Retry-After` is obeyed, up to 24 hours' },
        },
      },
    },
  };
}
