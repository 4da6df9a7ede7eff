// Calls functions that run in another thread. Also contains what such threads share. Calls and replies are messages; each reply
// contains the number of its call.

import { closeSync, openSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { isStorageError, StorageError } from '../../../domain/storage-error.ts';
import type { DatabaseOptions } from '../../../storage/database.ts';
import { SERVER_OPTIONS } from '../../../storage/open-database.ts';

interface Call<Question> {
  readonly number: number;
  readonly question: Question;
}

type Result<Answer> =
  | { readonly number: number; readonly answer: Answer }
  | { readonly number: number; readonly failure: ThreadFailure };

/** A thread closes its database connections within milliseconds, unless it is executing a long query. */
const CLOSE_MAX_MS = 1_000;

/** `script` has no extension, because the file is .ts in a checkout and .js in the built program. */
export function threadClient<Question, Answer>(script: URL) {
  const pending = new Map<number, PromiseWithResolvers<Answer>>();
  let running: Worker | undefined;
  let lastNumber = 0;
  let isClosed = false;

  /** Starts the thread if it is not running. */
  function start(): Worker {
    if (isClosed) throw stopping();
    if (running !== undefined) return running;
    if (!canStartThread()) throw new Refused('no file handle is free to start a thread');
    const thread = new Worker(script);
    thread.onmessage = ({ data }: MessageEvent<Result<Answer>>) => {
      const call = pending.get(data.number);
      if ('failure' in data) call?.reject(fromThreadFailure(data.failure));
      else call?.resolve(data.answer);
    };
    thread.onerror = ({ message }) => {
      if (running === thread) end(new Error(`the thread failed: ${message}`));
    };
    running = thread;
    return thread;
  }

  function end(reason: Error): void {
    running?.terminate();
    running = undefined;
    for (const { reject } of pending.values()) reject(reason);
  }

  return {
    start,
    /** Number of calls without an answer. */
    pending: () => pending.size,
    async call(question: Question): Promise<Answer> {
      const thread = start();
      const number = ++lastNumber;
      const answered = Promise.withResolvers<Answer>();
      pending.set(number, answered);
      thread.postMessage({ number, question } satisfies Call<Question>);
      return answered.promise.finally(() => pending.delete(number));
    },
    /** Terminates the thread, and waits until its database connections are closed. Rejects pending and later calls. */
    async close(): Promise<void> {
      isClosed = true;
      const closed = Promise.withResolvers<void>();
      const timer = setTimeout(closed.resolve, CLOSE_MAX_MS);
      if (running === undefined) closed.resolve();
      running?.addEventListener('close', () => closed.resolve());
      end(stopping());
      await closed.promise;
      clearTimeout(timer);
    },
  };
}

/** A thread has its own connections, so that its work and requests do not wait for each other. */
export const THREAD_DATABASE: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: SERVER_OPTIONS.statementTimeoutMs,
  connectionsMax: 2,
};

declare const self: Worker;

/** Runs in the thread: passes each question to `answer`, and sends the result or the error back. */
export function answerCalls<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  self.onmessage = async ({ data: { number, question } }: MessageEvent<Call<Question>>) => {
    const result: Result<Answer> = await answer(question).then(
      (value) => ({ number, answer: value }),
      (error) => ({ number, failure: toThreadFailure(error) }),
    );
    self.postMessage(result);
  };
}

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/**
 * Lowers the priority of the calling thread, so that requests do not wait for background work. `by` is added to the nice value.
 * Only on Linux: on other systems setPriority affects the whole process.
 */
export function lowerPriority(by: number = PRIORITY_BELOW_NORMAL): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority(process.pid) + by, PRIORITY_LOW));
  } catch {
    // Some containers forbid this; the thread then runs at the same priority as requests.
  }
}

function stopping(): Refused {
  return new Refused('the node is stopping');
}

const FILES_FOR_THREAD = 16;

/** True if enough file handles are free. If there are too few, Bun 1.4 exits the whole process when the thread starts. */
export function canStartThread(): boolean {
  const files: number[] = [];
  try {
    while (files.length < FILES_FOR_THREAD) files.push(openSync('/dev/null', 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of files) closeSync(file);
  }
}

export type ThreadFailure = ReturnType<typeof toThreadFailure>;

const CLASSES: Readonly<Record<string, new (message: string) => Error>> = { BadInput, Refused };

/** Returns an error as plain data: postMessage alone would drop its class, which determines the exit code. */
export function toThreadFailure(error: unknown) {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { name, message, stack, kind: isStorageError(error) ? error.kind : undefined };
}

export function fromThreadFailure({ name, message, stack, kind }: ThreadFailure): Error {
  const error = kind === undefined ? new (CLASSES[name] ?? Error)(message) : new StorageError(kind, message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
