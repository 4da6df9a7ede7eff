// Requests pages over HTTP and checks every response against the API's guarantees. It records violations and continues, so that
// the comparison at the end of the run still takes place.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { FetchPage, Page, PageQuery } from './pollers.ts';

/** Sends a GET request for a path to a node that it chooses. */
export type Send = (path: string) => Promise<Response>;

/** The stamp through which a first page that is requested now must be complete at least, for one organisation. */
export interface ClockWitness {
  floor: Timestamp | '';
}

export function pageReader(
  send: Send,
  witness: ClockWitness,
  onViolation: (what: string) => void,
): FetchPage {
  let lastId: Uuid | '' = '';
  return async (query) => {
    const floor = witness.floor;
    const page = await readPage(await send(pathOf(query)));
    // A first page, or one that is read again after a restart.
    if (query.cursor === undefined || query.cursor <= lastId) lastId = '';
    for (const row of page.rows) {
      if (row.id <= lastId) onViolation(`ids do not increase: ${row.id} after ${lastId} in ${pathOf(query)}`);
      lastId = row.id;
      if (!isInWindow(row, query)) onViolation(`${row.id} of ${row.updatedAt} is outside ${pathOf(query)}`);
    }
    const { updatedAtGreaterThan: after = '' } = query;
    if (page.completeThrough < after)
      onViolation(`the page after ${after} is complete only through ${page.completeThrough}`);
    if (page.cursor !== undefined && page.cursor <= lastId)
      onViolation(`the cursor ${page.cursor} is not after the last id, ${lastId}`);
    if (query.cursor === undefined) {
      if (page.completeThrough < floor)
        onViolation(`complete through ${page.completeThrough}, although ${floor} was announced before`);
      if (page.completeThrough > witness.floor) witness.floor = page.completeThrough;
    }
    return page;
  };
}

function pathOf(query: PageQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return `/v1/transactions/?${parameters}`;
}

export async function readPage(response: Response): Promise<Page> {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const { data, cursor } = (await response.json()) as { data: Transaction[]; cursor?: Uuid };
  const completeThrough = response.headers.get('Complete-Through') as Timestamp | null;
  if (completeThrough === null) throw new Error('there is no Complete-Through');
  return { rows: data, cursor, completeThrough };
}

/** Compares timestamps as strings, because their format sorts chronologically. */
function isInWindow({ id, updatedAt, passbackUid }: Transaction, query: PageQuery): boolean {
  return (
    (query.passbackUid === undefined || passbackUid === query.passbackUid) &&
    (query.cursor === undefined || id >= query.cursor) &&
    (query.updatedAtGreaterThan === undefined || updatedAt > query.updatedAtGreaterThan) &&
    (query.updatedAtLessThan === undefined || updatedAt < query.updatedAtLessThan)
  );
}
