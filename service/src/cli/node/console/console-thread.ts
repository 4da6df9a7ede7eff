// The console's thread. It reads the database, computes totals, renders HTML and bundles the script, so that a slow page
// does not delay requests on the public port.

import { buildConsole, type Console } from '../../../console/console.ts';
import type { ConsoleSettings, NodeView } from '../../../console/page-context.ts';
import { systemClock } from '../../../domain/clock.ts';
import { responseBody } from '../../../http/reply.ts';
import { openOnce } from '../../../storage/open-once.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { answerCalls, THREAD_DATABASE } from '../threads/thread-client.ts';

export interface ConsoleQuestion {
  readonly setup: ConsoleSetup;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The form's body; empty for GET. */
  readonly body: string;
  readonly node: NodeView;
}

export interface ConsoleSetup extends ConsoleSettings {
  readonly databaseUrl: string;
}

export type ConsoleAnswer = Awaited<ReturnType<typeof answer>>;

/** Longer than a server's, for searches through all transactions. */
const STATEMENT_TIMEOUT_MS = 60_000;

let opened: Console | undefined;

async function answer({ setup, method, url, headers, body, node }: ConsoleQuestion) {
  opened ??= openConsole(setup);
  const request = new Request(url, { method, headers, ...(method === 'POST' ? { body } : {}) });
  const reply = await opened(request, node);
  return {
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    body: new Uint8Array(await new Response(responseBody(reply.body, method)).arrayBuffer()),
  };
}

answerCalls(answer);

function openConsole({ databaseUrl, ...settings }: ConsoleSetup): Console {
  const options = { ...THREAD_DATABASE, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const stores = openOnce(() => openStores(databaseUrl, options, systemClock));
  return buildConsole(stores.open, settings);
}
