// Type of an operation: one entry for routing, the OpenAPI document, the code samples and the tests. Each operation has its own
// file in this folder; operations.ts lists them.

import type { Sample } from '@offerbook/site/docs/samples/sample-code.ts';
import type { z } from 'zod';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { AccessToken, TokenKind } from '../../domain/access-token.ts';
import type { TransactionStore } from '../../domain/transaction.ts';
import type { WalkStore } from '../../domain/walk.ts';
import type { CallerTally } from '../caller-tally.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { ParameterName } from './query.ts';

/** All operations are reads (GET and HEAD). */
export interface Operation {
  readonly id: string;
  readonly path: `/v1/${string}/`;
  /** Kind of token that the operation accepts. */
  readonly tokenKind: TokenKind;
  readonly parameters: readonly ParameterName[];
  readonly summary: string;
  readonly description: string;
  readonly item: ListedItem;
  readonly sample: Sample;
  /** Called once, when the server starts. The returned function answers every request that has passed all checks. */
  readonly answer: (services: Services, item: ListedItem) => Answer;
}

/** Items on the pages of an operation. */
export interface ListedItem {
  /** Component name in the OpenAPI document. */
  readonly component: string;
  /** Loaded on demand for the OpenAPI document and for unknown parameters, so that servers start faster. */
  readonly loadSchema: () => Promise<z.ZodType>;
  /** Embedded lists, with the component names of their items. */
  readonly embedded?: Readonly<Record<string, string>>;
}

/** The data that operations read. */
export interface DataSources {
  readonly catalogue: Catalogue;
  readonly transactions: TransactionStore;
  readonly walks: WalkStore;
  /** Counts the pages of transactions that each organisation gets. */
  readonly callers: CallerTally;
}

export interface Services extends DataSources {
  /** Default number of items per page. */
  readonly pageSize: number;
}

/** Throws ApiError for errors that the client should see. */
export type Answer = (exchange: Exchange, token: AccessToken) => Promise<Reply>;
