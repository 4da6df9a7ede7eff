// The type of an operation. The operations themselves are in operations.ts.

import type { Sample } from '@offerbook/site/docs/samples/sample-code.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { AccessToken, TokenKind } from '../../domain/access-token.ts';
import type { TransactionStore, WalkStore } from '../../domain/transaction.ts';
import type { Exchange } from '../exchange.ts';
import type { ItemComponent } from '../openapi/component-schemas.ts';
import type { Reply } from '../reply.ts';
import type { RequestTally } from '../request-tally.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { ParameterName } from './parameters.ts';

/** All operations are reads (GET and HEAD). */
export interface Operation {
  readonly id: string;
  readonly path: `/v1/${string}/`;
  /** What the response contains: a page of a list, or the item with the id in the path. */
  readonly returns: 'page' | 'item';
  readonly tokenKind: TokenKind;
  readonly parameters: readonly ParameterName[];
  readonly summary: string;
  readonly description: string;
  /** The item's component in the OpenAPI document. */
  readonly component: ItemComponent;
  readonly sample: Sample;
  /** Called once at startup. The returned function answers requests that have passed all checks. */
  readonly answer: (services: Services) => Handler;
}

/** The data that operations read, and the tally that they update. */
export interface DataSources {
  readonly catalogue: Catalogue;
  readonly transactions: TransactionStore;
  readonly walks: WalkStore;
  readonly tally: RequestTally;
}

/** What the operations of one app share. */
export interface Services extends DataSources {
  /** Items per page if the client does not send a limit. */
  readonly pageSize: number;
  /** Limits how many requests read transactions at once. */
  readonly transactionQueue: ConcurrencyLimit;
}

/** Throws ApiError for errors that the client should see. */
export type Handler = (exchange: Exchange, token: AccessToken) => Reply | Promise<Reply>;
