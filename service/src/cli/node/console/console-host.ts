// Passes requests from the admin port to the console's thread. The first request starts the thread, so a node whose console
// is never opened has none.

import { Refused } from '@offerbook/wire/failures.ts';
import type { NodeView } from '../../../console/page-context.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import { canStartThread } from '../file-handles.ts';
import { fromThreadFailure } from '../thread-failure.ts';
import type { ConsoleAnswer, ConsoleSetup, ToConsole } from './console-thread.ts';

/** Long enough for a search through all transactions. */
const ANSWER_MAX_MS = 90_000;
const CLOSE_MAX_MS = 3_000;
/** Further requests would only queue, so they are rejected. */
const WAITING_MAX = 100;
/** The headers that pages read. The admin port's secret is not passed on. */
const PASSED_HEADERS = ['accept-encoding', 'if-none-match'];

export class ConsoleHost {
  readonly #setup: ConsoleSetup;
  readonly #waiting = new Map<number, PromiseWithResolvers<Response>>();
  #thread: Worker | undefined;
  #lastNumber = 0;
  #isClosed = false;

  constructor(setup: ConsoleSetup) {
    this.#setup = setup;
  }

  async answer(request: Request, body: string, node: NodeView): Promise<Response> {
    if (this.#waiting.size >= WAITING_MAX) throw new Refused('the console is overloaded');
    const thread = this.#openThread();
    const number = ++this.#lastNumber;
    const answered = Promise.withResolvers<Response>();
    this.#waiting.set(number, answered);
    const question: ToConsole = {
      number,
      setup: this.#setup,
      method: request.method,
      url: new URL(request.url, 'http://localhost').href,
      headers: Object.fromEntries([...request.headers].filter(([name]) => PASSED_HEADERS.includes(name))),
      body,
      node,
    };
    try {
      thread.postMessage(question);
      return await withTimeout(
        answered.promise,
        ANSWER_MAX_MS,
        () => new Refused('the console did not respond in time'),
      );
    } finally {
      this.#waiting.delete(number);
    }
  }

  /** Lets the thread close its database, unless a long request blocks it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    this.#thread = undefined;
    this.#failAll(stopping());
    if (thread === undefined) return;
    const ended = new Promise((resolve) => thread.addEventListener('close', resolve));
    thread.postMessage('close' satisfies ToConsole);
    await withTimeout(ended, CLOSE_MAX_MS, () => new Refused('the console did not respond in time')).catch(
      () => {},
    );
    thread.terminate();
  }

  #openThread(): Worker {
    // The admin port closes after this; a thread started by a late request would never be ended.
    if (this.#isClosed) throw stopping();
    if (this.#thread !== undefined) return this.#thread;
    if (!canStartThread()) throw new Refused('no file handle is free for the console');
    const thread = new Worker(new URL('./console-thread', import.meta.url));
    thread.onmessage = ({ data }: MessageEvent<ConsoleAnswer>) => this.#receive(data);
    thread.onerror = ({ message }) => {
      thread.terminate();
      this.#thread = undefined;
      this.#failAll(new Error(`the console's thread failed: ${message}`));
    };
    this.#thread = thread;
    return thread;
  }

  #receive(answer: ConsoleAnswer): void {
    const waiting = this.#waiting.get(answer.number);
    if ('failure' in answer) {
      waiting?.reject(fromThreadFailure(answer.failure));
      return;
    }
    // Response throws for a 304 with a body, even an empty one.
    const body = answer.status === 304 ? null : answer.body;
    waiting?.resolve(new Response(body, answer));
  }

  #failAll(reason: Error): void {
    for (const { reject } of this.#waiting.values()) reject(reason);
  }
}

function stopping(): Refused {
  return new Refused('the node is stopping');
}
