// The thread of the console. Everything that a page needs happens here: reading the database, counting, making the HTML
// and bundling the script. So a page can take its time, and no request on the public port waits for it.

import { buildConsole, type Console } from '../../../console/console.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Stores } from '../../../domain/stores.ts';
import { responseBody } from '../../../http/content/response-body.ts';
import type { DatabaseOptions } from '../../../storage/database.ts';
import { type OpenOnce, openOnce } from '../../../storage/open-once.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { toThreadFailure } from '../thread-failure.ts';
import { CLOSE, type ConsoleAnswer, type ConsoleQuestion, type ConsoleSetup } from './console-messages.ts';

/** Connections apart from those that requests use. A search through all transactions may take its time, within limits. */
const DATABASE_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 60_000,
  connectionsMax: 2,
};

declare const self: Worker;

let stores: OpenOnce<Stores> | undefined;
let made: Console | undefined;

self.onmessage = async ({ data: question }: MessageEvent<ConsoleQuestion | typeof CLOSE>) => {
  if (question !== CLOSE) return self.postMessage(await answer(question));
  await stores?.close();
  // Of the thread, not of the process.
  process.exit();
};

async function answer({
  number,
  method,
  url,
  headers,
  body,
  node,
  setup,
}: ConsoleQuestion): Promise<ConsoleAnswer> {
  try {
    made ??= makeConsole(setup);
    const request = new Request(url, { method, headers, ...(method === 'POST' ? { body } : {}) });
    const reply = await made(request, node);
    return {
      number,
      status: reply.status,
      headers: Object.fromEntries(new Headers(reply.headers as Record<string, string>)),
      body: new Uint8Array(await new Response(responseBody(reply.body, method)).arrayBuffer()),
    };
  } catch (error) {
    return { number, failure: toThreadFailure(error) };
  }
}

function makeConsole({ databaseUrl, folder }: ConsoleSetup): Console {
  stores = openOnce(() => openStores(databaseUrl, DATABASE_OPTIONS, systemClock));
  return buildConsole({ stores: stores.open, folder, clock: systemClock });
}
