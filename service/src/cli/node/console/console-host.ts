// Passes requests from the admin port to the console's thread. The first request starts the thread, so a node whose console
// is never opened does not have one.

import { Refused } from '@offerbook/wire/failures.ts';
import type { NodeView } from '../../../console/page-context.ts';
import { withTimeout } from '../../../domain/promises.ts';
import { threadClient } from '../threads/thread-client.ts';
import type { ConsoleAnswer, ConsoleQuestion, ConsoleSetup } from './console-thread.ts';

/** Long enough for a search through all transactions. */
const ANSWER_MAX_MS = 90_000;
/** Further requests would only queue, so they are rejected. */
const PENDING_MAX = 100;
/** The headers that pages read. The admin port's secret is not passed on. */
const PASSED_HEADERS = ['accept-encoding', 'if-none-match'];

export function openConsoleHost(setup: ConsoleSetup) {
  const thread = threadClient<ConsoleQuestion, ConsoleAnswer>(new URL('./console-thread', import.meta.url));
  return {
    async answer(request: Request, body: string, node: NodeView): Promise<Response> {
      if (thread.pending() >= PENDING_MAX) throw new Refused('the console is overloaded');
      const url = new URL(request.url, 'http://localhost').href;
      const headers = Object.fromEntries(
        [...request.headers].filter(([name]) => PASSED_HEADERS.includes(name)),
      );
      const answer = await withTimeout(
        thread.call({ setup, method: request.method, url, headers, body, node }),
        ANSWER_MAX_MS,
        () => new Refused('the console did not respond in time'),
      );
      // Response throws for a 304 with a body, even an empty one.
      return new Response(answer.status === 304 ? null : answer.body, answer);
    },
    close: () => thread.close(),
  };
}
