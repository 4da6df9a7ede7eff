// A transaction store on SQLite whose writes run in a thread of their own. SQLite works in the process that calls
// it: without the thread, an import could not read on in its file while the database writes, and would take
// half as long again. PostgreSQL needs none of this, since it is a process of its own.

import type { TransactionStore, TransactionWriter } from '../domain/stores.ts';
import type { Database } from './database.ts';
import { findTransactions } from './stores/transaction-store.ts';
import {
  packTransactions,
  reviveError,
  type ThreadReply,
  type ThreadRequest,
  unpackTransactions,
} from './write-thread-messages.ts';

/** How many batches may wait to be written. */
const PUTS_AHEAD = 24;

/** Like the store on this database, which the URL names, save that its writes take their stamps from the system's clock. */
export function writingInThread(
  store: TransactionStore,
  database: Database,
  databaseUrl: string,
): TransactionStore {
  return {
    ...store,
    async write(orgId, work) {
      const thread = new WriteThread();
      try {
        const { stampMs } = await thread.ask({ kind: 'begin', databaseUrl, orgId }, 'begun');
        const result = await work(threadWriter(database, thread, stampMs));
        await thread.ask({ kind: 'commit' }, 'done');
        return result;
      } catch (error) {
        await thread.undo();
        throw error;
      } finally {
        thread.end();
      }
    },
  };
}

function threadWriter(database: Database, thread: WriteThread, stampMs: number): TransactionWriter {
  const puts: Promise<unknown>[] = [];
  let waiting = 0;
  return {
    stampMs,
    // Whoever has less to do looks up. Nobody else can write now, so a reader here finds what there was when the write
    // began. When nothing has changed, and so the thread is idle, an import takes a quarter less time that way.
    async find(ids) {
      if (waiting > 0) return database.read((connection) => findTransactions(connection, ids));
      const { rows, orgIds } = await thread.ask({ kind: 'find', ids }, 'found');
      return new Map(unpackTransactions(rows).map((row, i) => [row.id, { ...row, orgId: orgIds[i] ?? 0 }]));
    },
    async put(rows) {
      // Not waited for, so that the thread has always something to do. An error comes with the next answer.
      const written = thread.ask({ kind: 'put', rows: packTransactions(rows) }, 'done');
      waiting += 1;
      written
        .catch(() => undefined)
        .finally(() => {
          waiting -= 1;
        });
      puts.push(written);
      if (puts.length > PUTS_AHEAD) await puts.shift();
    },
    async advanceClock(toMs) {
      await thread.ask({ kind: 'advanceClock', toMs }, 'done');
    },
  };
}

/**
 * Answers come in the order of the questions, but what is looked up may overtake what is put. After an error there
 * are none: the thread has undone the write.
 */
class WriteThread {
  readonly #worker = new Worker(new URL('./write-thread-main.ts', import.meta.url));
  readonly #waitingForFound: Waiting[] = [];
  readonly #waitingForOthers: Waiting[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor() {
    this.#worker.onmessage = (event: MessageEvent<ThreadReply>) => {
      if (event.data.kind === 'failed') this.#fail(reviveError(event.data.error));
      else this.#waitingFor(event.data.kind).shift()?.resolve(event.data);
    };
    this.#worker.onerror = (event) => this.#fail(new Error(`the writing thread ended: ${event.message}`));
  }

  async ask<Kind extends ThreadReply['kind']>(
    request: ThreadRequest,
    answer: Kind,
  ): Promise<Extract<ThreadReply, { kind: Kind }>> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const reply = await new Promise<ThreadReply>((resolve, reject) => {
      this.#waitingFor(answer).push({ resolve, reject });
      this.#worker.postMessage(request);
    });
    return reply as Extract<ThreadReply, { kind: Kind }>;
  }

  /** Returns when the write is undone, so that whoever is told of the error finds the database as it was. */
  async undo(): Promise<void> {
    await this.ask({ kind: 'undo' }, 'done').catch(() => undefined);
  }

  end(): void {
    this.#worker.terminate();
  }

  #waitingFor(kind: ThreadReply['kind']): Waiting[] {
    return kind === 'found' ? this.#waitingForFound : this.#waitingForOthers;
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    for (const waiting of [this.#waitingForFound, this.#waitingForOthers]) {
      for (const { reject } of waiting.splice(0)) reject(error);
    }
  }
}

interface Waiting {
  resolve(reply: ThreadReply): void;
  reject(error: unknown): void;
}
