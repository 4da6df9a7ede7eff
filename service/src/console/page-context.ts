// The data available to the console's pages. Pages must not write to the stores.

import type { ConsolePage } from '@offerbook/site/console/console-page.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { Stores } from '../domain/stores.ts';
import type { NodeState } from '../http/metrics.ts';
import type { Reply } from '../http/reply.ts';
import type { CatalogueReader } from './counts/catalogue-contents.ts';
import type { ClickCounter } from './counts/click-totals.ts';
import type { HourFigures } from './recent-hour.ts';

/** State of the running node: plain data, which the node posts to the console's thread with every request. */
export interface NodeView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly state: NodeState;
  readonly hour: HourFigures;
  /** Configured number of workers. */
  readonly workers: number;
}

export interface ConsoleSettings {
  /** Folder of the spool or the SQLite database. The console shows the free space on its disk. */
  readonly folder: string;
  /** URL of the explorer; undefined if it is off. */
  readonly explorer?: string | undefined;
}

export interface PageContext extends ConsoleSettings {
  readonly node: NodeView;
  /** Throws a StorageError if the database does not respond. */
  readonly stores: () => Promise<Stores>;
  readonly catalogue: CatalogueReader;
  readonly clicks: ClickCounter;
  readonly query: URLSearchParams;
  /** Fields of a submitted form. */
  readonly form: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads the data for a page and renders it. A reply is sent as it is, for redirects and files. */
export type MakePage = (context: PageContext) => Promise<ConsolePage | Reply>;

/** Finds an organisation by its public id, else by its exact name, else by its name in another case if only one has it. */
export function findOrganisation(
  organisations: readonly Organisation[],
  text: string | null,
): Organisation | undefined {
  if (text === null) return undefined;
  const id = parseUuid(text);
  const folded = text.toLowerCase();
  const similar = organisations.filter(({ name }) => name.toLowerCase() === folded);
  return (
    organisations.find(({ publicId }) => publicId === id) ??
    similar.find(({ name }) => name === text) ??
    (similar.length === 1 ? similar[0] : undefined)
  );
}
