// The data available to the console's pages. Pages must not write to the stores.

import type { ConsolePage } from '@offerbook/site/console/console-page.ts';
import type { HourFigures } from '@offerbook/site/console/node-figures.ts';
import type { Stores } from '../domain/stores.ts';
import type { NodeState } from '../http/metrics.ts';
import type { CatalogueReader } from './counts/catalogue-contents.ts';

/** State of the running node: plain data, which the node posts to the console's thread with every request. */
export interface NodeView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly state: NodeState;
  readonly hour: HourFigures;
  /** Configured number of workers. */
  readonly workers: number;
}

export interface PageContext {
  readonly node: NodeView;
  /** Throws a StorageError if the database does not respond. */
  readonly stores: () => Promise<Stores>;
  readonly catalogue: CatalogueReader;
  /** Folder whose free disk space the console shows. */
  readonly folder: string;
  readonly query: URLSearchParams;
  /** Fields of a submitted form. */
  readonly form: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads the data for a page and renders it. */
export type MakePage = (context: PageContext) => Promise<ConsolePage>;
