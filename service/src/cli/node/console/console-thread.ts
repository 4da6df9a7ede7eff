// The console's thread. It reads the database, computes totals, renders HTML and bundles the script, so that a slow page
// does not delay requests on the public port.

import { buildConsole, type Console } from '../../../console/console.ts';
import type { NodeView } from '../../../console/page-context.ts';
import { systemClock } from '../../../domain/clock.ts';
import { responseBody } from '../../../http/content/response-body.ts';
import type { DatabaseOptions } from '../../../storage/database.ts';
import { openOnce } from '../../../storage/open-once.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { answerCalls } from '../threads/thread-client.ts';

export interface ConsoleQuestion {
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
  /** Folder of the spool or the SQLite database. The console shows the free space on its disk. */
  readonly folder: string;
  /** URL of the explorer; undefined if it is off. */
  readonly explorer: string | undefined;
}

export interface ConsoleAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Separate connections, with a longer timeout for searches through all transactions. */
const DATABASE_OPTIONS: DatabaseOptions = {
  durable: false,
  lockTimeoutMs: 0,
  statementTimeoutMs: 60_000,
  connectionsMax: 2,
};

let opened: Console | undefined;

answerCalls(async ({ setup, method, url, headers, body, node }: ConsoleQuestion): Promise<ConsoleAnswer> => {
  opened ??= openConsole(setup);
  const request = new Request(url, { method, headers, ...(method === 'POST' ? { body } : {}) });
  const reply = await opened(request, node);
  return {
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    body: new Uint8Array(await new Response(responseBody(reply.body, method)).arrayBuffer()),
  };
});

function openConsole({ databaseUrl, folder, explorer }: ConsoleSetup): Console {
  const stores = openOnce(() => openStores(databaseUrl, DATABASE_OPTIONS, systemClock));
  return buildConsole({ stores: stores.open, folder, explorer });
}
