// The largest possible transactions: one organisation walks through them, first with one client and then greedily, while
// another organisation polls as usual. Measures the size of pages, how long the process is blocked, and the responses to the
// other organisation.

import { CODINGS } from '../../src/http/content/content-coding.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { offerbook } from '../support/command.ts';
import { id, transaction } from '../support/fixtures.ts';
import { putDocuments } from '../support/put-documents.ts';
import { getRequest } from './http-connection.ts';
import { LoadedService, type Seeded, seed } from './loaded-service.ts';
import { Tally } from './tally.ts';
import { closedLoop } from './traffic.ts';

/** Maximum size of the envelope around the items of a page. */
export const ENVELOPE_BYTES_MAX = 100;
/** The longest string that a field may have. Each character takes six bytes in JSON. */
const TEXT = '\u0001'.repeat(65_536);
const BATCH_SIZE = 20;
/** More connections than pages that can be read at once. */
const GREEDY_CONNECTIONS = 40;
const FIRST_NUMBER = 1_000_000;
/** On a busy machine, all pages of a round may be late. */
const ROUNDS_MAX = 10;

export interface LargePagesOptions {
  readonly transactions: number;
  readonly greedyMs: number;
}

export interface LargePagesReport {
  /** Number of items received in each walk of a single client, one walk per content coding. */
  readonly walked: readonly number[];
  readonly largestPageBytes: number;
  /** Longest response time of /livez during the walks of a single client. */
  readonly heldUpMs: number;
  readonly greedy: Tally;
  /** Responses to another organisation while the greedy clients were active. */
  readonly other: Tally;
  readonly livez: Tally;
  readonly memoryMb: number;
}

export async function runLargePages(
  databaseUrl: string,
  { transactions, greedyMs }: LargePagesOptions,
): Promise<LargePagesReport> {
  const seeded = await seed(databaseUrl);
  const token = await seedLargest(databaseUrl, seeded, transactions);
  await using service = await LoadedService.start(seeded);
  const watch = watchService(service);
  const walks: Walked[] = [];
  for (const coding of [undefined, ...CODINGS]) walks.push(await walk(service, token, coding));
  const heldUpMs = watch.livez.percentileMs(1);

  const { url } = service;
  const greedyRequest = getRequest('/v1/transactions/?limit=1000', token);
  const [greedy, other] = [new Tally(), new Tally()];
  for (let round = 0; round < ROUNDS_MAX && other.count(200) === 0; round++) {
    const tallies = await Promise.all([
      closedLoop({ url, requests: [greedyRequest], durationMs: greedyMs }, GREEDY_CONNECTIONS),
      closedLoop({ url, requests: [seeded.transactionsRequest], durationMs: greedyMs }, 1),
    ]);
    greedy.add(tallies[0]);
    other.add(tallies[1]);
  }
  const { livez, memoryMb } = await watch.stop();
  return {
    walked: walks.map(({ items }) => items),
    largestPageBytes: Math.max(...walks.map(({ largestPageBytes }) => largestPageBytes)),
    heldUpMs,
    greedy,
    other,
    livez,
    memoryMb,
  };
}

/** Stores the transactions directly, because an import rejects values of this length. Returns a token. */
async function seedLargest(databaseUrl: string, { env }: Seeded, count: number): Promise<string> {
  const stores = await openStores(databaseUrl);
  const org = await stores.organisations.create('largest');
  await stores.transactions.write(org?.id ?? 0, async (writer) => {
    for (let done = 0; done < count; done += BATCH_SIZE) {
      const numbers = Array.from({ length: Math.min(BATCH_SIZE, count - done) }, (_, i) => done + i);
      await putDocuments(
        writer,
        numbers.map((number) => ({
          id: id(FIRST_NUMBER + number),
          updatedAtMs: writer.stampMs,
          document: JSON.stringify(
            transaction(FIRST_NUMBER + number, { passbackUid: TEXT, passbackData: TEXT }),
          ),
        })),
      );
    }
    await writer.advanceClock(writer.stampMs);
  });
  await stores.close();
  const args = ['tokens', 'issue', '--org', 'largest', '--kind', 'private', '--json'];
  return (JSON.parse((await offerbook(args, { env })).stdout) as { token: string }).token;
}

interface Walked {
  readonly items: number;
  readonly largestPageBytes: number;
}

async function walk({ url }: LoadedService, token: string, coding: string | undefined): Promise<Walked> {
  let [items, largestPageBytes] = [0, 0];
  let next: string | undefined = `${url}/v1/transactions/?limit=1000`;
  while (next !== undefined) {
    const response: Response = await fetch(next, {
      headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': coding ?? 'identity' },
    });
    // On a busy machine, the page may have been late.
    if (response.status === 503) continue;
    if (response.status !== 200) throw new Error(`a page got status ${response.status}`);
    const body = Buffer.from(await response.arrayBuffer());
    largestPageBytes = Math.max(largestPageBytes, body.length);
    for (let at = body.indexOf('{"id":"'); at >= 0; at = body.indexOf('{"id":"', at + 1)) items += 1;
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1];
  }
  return { items, largestPageBytes };
}

/** Continuously requests /livez and records the peak memory. */
function watchService(service: LoadedService) {
  const livez = new Tally();
  let memoryMb = 0;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      livez.answer(200, await service.livezMs());
      memoryMb = Math.max(memoryMb, service.memoryMb);
    }
  })();
  return {
    livez,
    async stop() {
      stopped = true;
      await watching;
      return { livez, memoryMb };
    },
  };
}
