// The largest possible transactions: one organisation walks through them, first with one client and then greedily, while
// another organisation polls as usual. Pages must be bounded, no page may block the process, and the other organisation must be
// served.

import { PAGE_BYTES_MAX } from '../../../src/domain/page.ts';
import type { Stores } from '../../../src/domain/stores.ts';
import { CODINGS } from '../../../src/http/content/content-coding.ts';
import { id, transaction } from '../../support/fixtures.ts';
import { putDocuments } from '../../support/put-documents.ts';
import type { Node } from '../cluster/node.ts';
import { createOrganisation, issueToken, withStores } from '../cluster/seed.ts';
import type { Run } from '../report/run.ts';
import { get } from '../traffic/get.ts';
import { getRequest } from '../traffic/http-connection.ts';
import { closedLoop, forMs } from '../traffic/loops.ts';
import { requireAnswered, Tally } from '../traffic/tally.ts';
import { requireLivez, startLoaded, watchNode } from './loaded-node.ts';

/** Maximum size of the envelope around the items of a page. */
const ENVELOPE_BYTES_MAX = 100;
/** The longest string that a field may have. Each character takes six bytes in JSON. */
const TEXT = '\u0001'.repeat(65_536);
const BATCH_SIZE = 20;
/** More connections than pages that can be read at once. */
const GREEDY_CONNECTIONS = 40;
const FIRST_NUMBER = 1_000_000;
const HELD_UP_MAX_MS = 100;
const MEMORY_MAX_MB = 600;
/** Pages of the other organisation that must be served while the greedy clients are active. */
const OTHER_PAGES_MIN = 3;
const OTHER_WAIT_MAX_MS = 60_000;

export async function largePages(run: Run): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { node, databaseUrl, transactions } = await startLoaded(run, stack);
  const count = run.number('largest');
  const token = await withStores(databaseUrl, (stores) => seedLargest(stores, count));
  const watch = watchNode(node);
  for (const coding of ['identity', ...CODINGS]) {
    const { items, bytesMax } = await walk(node, token, coding);
    run.require('a walk of the largest transactions contains each of them', items === count, items);
    run.require('a page has at most 4 MiB', bytesMax <= PAGE_BYTES_MAX + ENVELOPE_BYTES_MAX, bytesMax);
  }
  const heldUpMs = Math.round(watch.livez.percentileMs(1));

  const [greedy, other] = [new Tally(), new Tally()];
  const [isLongEnough, isTooLong] = [forMs(run.number('round-seconds') * 1_000), forMs(OTHER_WAIT_MAX_MS)];
  const isOver = () => isTooLong() || (isLongEnough() && other.count(200) >= OTHER_PAGES_MIN);
  const { url } = node;
  const greedyRequest = getRequest('/v1/transactions/?limit=1000', token);
  await Promise.all([
    closedLoop({ url, requests: [greedyRequest], isOver, tally: greedy }, GREEDY_CONNECTIONS),
    closedLoop({ url, requests: [transactions], isOver, tally: other }, 1),
  ]);
  const { livez, memoryMb } = await watch.stop();
  run.figure('responses to greedy clients', greedy.statuses);
  run.figure('responses to another organisation', other.statuses);
  run.figure('slowest /livez', livez.percentileMs(1), 'ms');
  run.require('greedy clients are served', greedy.count(200) > 0, greedy.statuses);
  run.require('another organisation is served', other.count(200) >= OTHER_PAGES_MIN, other.statuses);
  requireAnswered(run, 'another organisation', other);
  requireLivez(run, 'largest transactions', livez);
  run.limit('memory with the largest pages', memoryMb, MEMORY_MAX_MB, 'MB');
  run.limit('time for which a page blocks the process', heldUpMs, HELD_UP_MAX_MS, 'ms');
}

/** Stores the transactions directly, because an import rejects values of this length. Returns a token. */
async function seedLargest(stores: Stores, count: number): Promise<string> {
  const org = await createOrganisation(stores, 'largest');
  const changes = { passbackUid: TEXT, passbackData: TEXT };
  await stores.transactions.write(org.id, async (writer) => {
    for (let done = 0; done < count; done += BATCH_SIZE) {
      const numbers = Array.from({ length: Math.min(BATCH_SIZE, count - done) }, (_, i) => done + i);
      await putDocuments(
        writer,
        numbers.map((number) => ({
          id: id(FIRST_NUMBER + number),
          document: JSON.stringify(transaction(FIRST_NUMBER + number, changes)),
        })),
      );
    }
  });
  return await issueToken(stores, org);
}

async function walk({ url }: Node, token: string, coding: string) {
  let [items, bytesMax] = [0, 0];
  let next: string | undefined = `${url}/v1/transactions/?limit=1000`;
  while (next !== undefined) {
    const response: Response = await get(next, { token, headers: { 'Accept-Encoding': coding } });
    // On a busy machine, the page may have been late.
    if (response.status === 503) continue;
    if (response.status !== 200) throw new Error(`a page got status ${response.status}`);
    const body = Buffer.from(await response.arrayBuffer());
    bytesMax = Math.max(bytesMax, body.length);
    for (let at = body.indexOf('{"id":"'); at >= 0; at = body.indexOf('{"id":"', at + 1)) items += 1;
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  return { items, bytesMax };
}
