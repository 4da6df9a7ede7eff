// The console as the admin port sees it: hands a request to the thread that answers it. The thread is started by the first
// request, so that a node whose console nobody opens does without it.

import { Refused } from '@offerbook/wire/failures.ts';
import type { NodeView } from '../../../console/page-context.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import { canStartThread } from '../file-handles.ts';
import { fromThreadFailure } from '../thread-failure.ts';
import type { ConsoleAnswer, ConsoleSetup, ToConsole } from './console-thread.ts';

/** A search through all transactions may take its time. */
const ANSWER_MAX_MS = 90_000;
const CLOSE_MAX_MS = 3_000;
/** Others would only wait behind them. */
const WAITING_MAX = 100;
/** What the pages look at. The secret of the admin port stays where it is. */
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
    if (this.#waiting.size >= WAITING_MAX) throw new Refused('the console has too much to do');
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
        () => new Refused('the console takes too long'),
      );
    } finally {
      this.#waiting.delete(number);
    }
  }

  /** The thread closes its database first, unless it is in the middle of something long. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = this.#thread;
    this.#thread = undefined;
    this.#failAll(stopping());
    if (thread === undefined) return;
    const ended = new Promise((resolve) => thread.addEventListener('close', resolve));
    thread.postMessage('close' satisfies ToConsole);
    await withTimeout(ended, CLOSE_MAX_MS, () => new Refused('the console takes too long')).catch(() => {});
    thread.terminate();
  }

  #openThread(): Worker {
    // The admin port closes later: nobody would end a thread that a late request has started.
    if (this.#isClosed) throw stopping();
    if (this.#thread !== undefined) return this.#thread;
    if (!canStartThread()) throw new Refused('there is no file handle left for the console');
    const thread = new Worker(new URL('./console-thread', import.meta.url));
    thread.onmessage = ({ data }: MessageEvent<ConsoleAnswer>) => this.#receive(data);
    thread.onerror = ({ message }) => {
      thread.terminate();
      this.#thread = undefined;
      this.#failAll(new Error(`the thread of the console has failed: ${message}`));
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
    // A body, even an empty one, is an error with this status.
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
