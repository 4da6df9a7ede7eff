// A client with a test's own fetch, and with a clock that does not wait.

import { type ClientOptions, OfferbookClient } from '../../src/index.ts';
import { BASE_URL, PUBLIC, type ScriptedFetch } from './answers.ts';
import { TestClock } from './test-clock.ts';

export function openClient(script: Pick<ScriptedFetch, 'fetch'>, options: Partial<ClientOptions> = {}) {
  const clock = new TestClock();
  const client = new OfferbookClient({
    baseUrl: BASE_URL,
    token: PUBLIC,
    fetch: script.fetch,
    clock,
    random: () => 1,
    ...options,
  });
  return { client, clock };
}
