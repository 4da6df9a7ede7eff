// The data available to the console's pages. Pages must not write to the stores.

import type { ConsolePage } from '@offerbook/site/console/console-page.ts';
import type { HourFigures } from '@offerbook/site/console/node-figures.ts';
import type { PublicOrganisation } from '../domain/organisation.ts';
import type { Stores } from '../domain/stores.ts';
import type { NodeState } from '../http/metrics.ts';
import type { Reply } from '../http/reply.ts';
import type { CatalogueReader } from './counts/catalogue-contents.ts';
import type { ClickCounter } from './counts/click-totals.ts';

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
  readonly clicks: ClickCounter;
  /** Folder whose free disk space the console shows. */
  readonly folder: string;
  readonly query: URLSearchParams;
  /** Fields of a submitted form. */
  readonly form: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads the data for a page and renders it. A reply is sent as it is, for redirects and files. */
export type MakePage = (context: PageContext) => Promise<ConsolePage | Reply>;

/** Finds the organisation named in the query `org`, by public id or by name. */
export function findOrganisation(
  organisations: readonly PublicOrganisation[],
  query: URLSearchParams,
): PublicOrganisation | undefined {
  const org = query.get('org');
  return organisations.find(({ publicId, name }) => publicId === org || name === org);
}
