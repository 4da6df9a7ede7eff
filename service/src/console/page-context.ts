// What the console's pages read their data from. The stores have no methods that write, because the console only reads.

import type { ConsolePage } from '@offerbook/site/console/console-page.ts';
import type { HourFigures } from '@offerbook/site/console/node-figures.ts';
import type { TokenStore } from '../domain/access-token.ts';
import type { CatalogueStore } from '../domain/catalogue.ts';
import type { ClickStore } from '../domain/click.ts';
import type { ImportLog } from '../domain/import-log.ts';
import type { OrganisationStore } from '../domain/organisation.ts';
import type { Revisions } from '../domain/stores.ts';
import type { TransactionHistory, TransactionStore } from '../domain/transaction.ts';
import type { NodeState } from '../http/metrics.ts';
import type { CachedCount } from './counts/cached-count.ts';
import type { CatalogueReader } from './counts/catalogue-contents.ts';
import type { ClickDay } from './counts/click-totals.ts';
import type { TransactionTotals } from './counts/transaction-totals.ts';

/** State of the running node. Plain data: the node sends it to the console's thread with every request. */
export interface NodeView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly state: NodeState;
  readonly hour: HourFigures;
  /** Configured number of workers. */
  readonly workers: number;
}

export interface ConsoleStores {
  readonly organisations: Pick<OrganisationStore, 'list' | 'changeClocks'>;
  readonly tokens: Pick<TokenStore, 'list'>;
  readonly catalogue: Pick<CatalogueStore, 'read'>;
  readonly clicks: Pick<ClickStore, 'countBetween'>;
  readonly transactions: Pick<TransactionStore, 'page' | 'read'>;
  readonly history: Pick<TransactionHistory, 'versions' | 'findByPassbackUid'>;
  readonly imports: Pick<ImportLog, 'find' | 'list' | 'days' | 'totals'>;
  revisions(): Promise<Revisions>;
}

/** Figures that take long to count, and are cached. */
export interface ConsoleCounts {
  readonly catalogue: CatalogueReader;
  readonly transactions: CachedCount<TransactionTotals>;
  readonly clicks: CachedCount<readonly ClickDay[]>;
}

export interface PageContext {
  readonly node: NodeView;
  /** Throws a StorageError when the database does not answer. */
  readonly stores: () => Promise<ConsoleStores>;
  readonly counts: ConsoleCounts;
  /** Folder whose disk is watched. */
  readonly folder: string;
  readonly query: URLSearchParams;
  /** Fields of a submitted form. */
  readonly form: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads the data of a page and renders it. */
export type MakePage = (context: PageContext) => Promise<ConsolePage>;
