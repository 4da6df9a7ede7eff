// The writing thread's own side: one write of an organisation's transactions, told step by step by messages.

import { systemClock } from '../domain/clock.ts';
import type { TransactionWriter } from '../domain/stores.ts';
import { COMMAND_OPTIONS, openStores } from './open-stores.ts';
import {
  packError,
  packTransactions,
  type ThreadReply,
  type ThreadRequest,
  unpackTransactions,
} from './write-thread-messages.ts';

declare const self: Worker;

/** Thrown inside the store's write to have it undone. */
const UNDO = new Error('the write is undone');

const requests: ThreadRequest[] = [];
let wake: (() => void) | undefined;
self.onmessage = (event: MessageEvent<ThreadRequest>) => {
  requests.push(event.data);
  wake?.();
};

/** What is looked up comes first: somebody waits for it, and nobody for what is put. */
async function nextRequest(): Promise<ThreadRequest> {
  // Lets in what has been asked meanwhile: work on SQLite never waits for anything.
  await new Promise((resolve) => setImmediate(resolve));
  while (true) {
    const lookUp = requests.findIndex(({ kind }) => kind === 'find');
    const [request] = requests.splice(Math.max(0, lookUp), 1);
    if (request !== undefined) return request;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

function reply(message: ThreadReply): void {
  self.postMessage(message);
}

/** Returns when the write is to be kept, and throws when it is not. */
async function follow(writer: TransactionWriter): Promise<void> {
  reply({ kind: 'begun', stampMs: writer.stampMs });
  while (true) {
    const request = await nextRequest();
    switch (request.kind) {
      case 'find': {
        const found = [...(await writer.find(request.ids)).values()];
        const orgIds = Float64Array.from(found, ({ orgId }) => orgId);
        reply({ kind: 'found', rows: packTransactions(found), orgIds });
        break;
      }
      case 'put':
        await writer.put(unpackTransactions(request.rows));
        reply({ kind: 'done' });
        break;
      case 'advanceClock':
        await writer.advanceClock(request.toMs);
        reply({ kind: 'done' });
        break;
      case 'commit':
        return;
      default:
        throw UNDO;
    }
  }
}

async function main(): Promise<void> {
  const first = await nextRequest();
  if (first.kind !== 'begin') throw new Error(`a write begins with its beginning, not with ${first.kind}`);
  const stores = await openStores(first.databaseUrl, COMMAND_OPTIONS, systemClock);
  try {
    await stores.transactions.write(first.orgId, follow);
  } finally {
    await stores.close();
  }
}

try {
  await main();
  reply({ kind: 'done' });
} catch (error) {
  reply(error === UNDO ? { kind: 'done' } : { kind: 'failed', error: packError(error) });
}
