// Asks for pages over HTTP, and holds every answer against the promises of the interface: what it finds
// broken it notes, and goes on, so that the end of the run can still tell what was lost.

import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { FetchPage, Page, PageQuery } from './pollers/poller.ts';

/** Sends a GET for a path to a node of its own choice. */
export type Send = (path: string) => Promise<Response>;

/** What the whole run knows about the clock of one organisation: the least that a read that begins now must see. */
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
      if (row.id <= lastId) onViolation(`ids do not rise: ${row.id} after ${lastId} in ${pathOf(query)}`);
      lastId = row.id;
      if (!isInWindow(row, query)) onViolation(`${row.id} of ${row.updatedAt} is outside ${pathOf(query)}`);
    }
    if (page.cursor !== undefined && page.cursor <= lastId)
      onViolation(`the cursor ${page.cursor} does not lead on from ${lastId}`);
    if (query.cursor === undefined) {
      if (page.completeThrough < floor)
        onViolation(`complete through ${page.completeThrough} when ${floor} had been seen`);
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

/** The order of printed timestamps is the order of the times. */
function isInWindow({ id, updatedAt, passbackUid }: Transaction, query: PageQuery): boolean {
  return (
    (query.passbackUid === undefined || passbackUid === query.passbackUid) &&
    (query.cursor === undefined || id >= query.cursor) &&
    (query.updatedAtGreaterThan === undefined || updatedAt > query.updatedAtGreaterThan) &&
    (query.updatedAtLessThan === undefined || updatedAt < query.updatedAtLessThan)
  );
}
