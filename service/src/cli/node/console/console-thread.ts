// The console's thread. It reads the database, counts, renders HTML and bundles the script, so that a slow page does not
// delay requests on the public port.

import { buildConsole, type Console } from '../../../console/console.ts';
import type { NodeView } from '../../../console/page-context.ts';
import { systemClock } from '../../../domain/clock.ts';
import type { Stores } from '../../../domain/stores.ts';
import { responseBody } from '../../../http/content/response-body.ts';
import type { DatabaseOptions } from '../../../storage/database.ts';
import { type OpenOnce, openOnce } from '../../../storage/open-once.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { type ThreadFailure, toThreadFailure } from '../thread-failure.ts';

/** A request, or `close`: the thread closes its database and ends. */
export type ToConsole = ConsoleQuestion | 'close';

interface ConsoleQuestion {
  readonly number: number;
  readonly setup: ConsoleSetup;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The form's body; empty for GET. */
  readonly body: string;
  readonly node: NodeView;
}

export interface ConsoleSetup {
  readonly databaseUrl: string;
  /** Folder whose free disk space the console shows: that of the spool or the SQLite database. */
  readonly folder: string;
}

export type ConsoleAnswer =
  | {
      readonly number: number;
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly body: Uint8Array<ArrayBuffer>;
    }
  | { readonly number: number; readonly failure: ThreadFailure };

/** Separate connections, with a longer timeout for searches through all transactions. */
const DATABASE_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 60_000,
  connectionsMax: 2,
};

declare const self: Worker;

let stores: OpenOnce<Stores> | undefined;
let made: Console | undefined;

self.onmessage = async ({ data: question }: MessageEvent<ToConsole>) => {
  if (question !== 'close') return self.postMessage(await answer(question));
  await stores?.close();
  // In a thread, exit() ends the thread, not the process.
  process.exit();
};

async function answer(question: ConsoleQuestion): Promise<ConsoleAnswer> {
  const { number, method, url, headers, body, node, setup } = question;
  try {
    made ??= makeConsole(setup);
    const request = new Request(url, { method, headers, ...(method === 'POST' ? { body } : {}) });
    const reply = await made(request, node);
    return {
      number,
      status: reply.status,
      headers: Object.fromEntries(reply.headers),
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
