// What an operation is: everything that routing, the OpenAPI document, the code samples and the tests want to know of
// it, in one entry. Each operation has a file of its own here, and operations.ts lists them.

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

/** All of them are reads: GET, and HEAD with it. */
export interface Operation {
  readonly id: string;
  readonly path: `/v1/${string}/`;
  /** The kind of token that may call it. */
  readonly tokenKind: TokenKind;
  readonly parameters: readonly ParameterName[];
  readonly summary: string;
  readonly description: string;
  readonly item: ListedItem;
  readonly sample: Sample;
  /** Called once, when the server starts. The returned function answers every request that has passed all checks. */
  readonly answer: (services: Services, item: ListedItem) => Answer;
}

/** What the pages of an operation list. */
export interface ListedItem {
  /** Its name among the components of the OpenAPI document. */
  readonly component: string;
  /** Loaded on demand, for the OpenAPI document and unknown parameters: a server starts without the schemas. */
  readonly loadSchema: () => Promise<z.ZodType>;
  /** The lists that are embedded in it, and the names of their items among the components. */
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
