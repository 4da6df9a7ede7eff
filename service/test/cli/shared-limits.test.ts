// Limits that hold for a whole node, over all of its workers.

import { describe, expect, test } from 'bun:test';
import { offerbook, ServerProcess } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';

/** Asks for the same list many times at once, each over a connection of its own; returns how often each status came. */
async function ask(url: string, token: string, count: number): Promise<Record<number, number>> {
  const statuses = await Promise.all(
    Array.from({ length: count }, async () => {
      const response = await fetch(`${url}/v1/coupons/`, {
        headers: { Authorization: `Bearer ${token}`, Connection: 'close' },
      });
      await response.arrayBuffer();
      return response.status;
    }),
  );
  const tally: Record<number, number> = {};
  for (const status of statuses) tally[status] = (tally[status] ?? 0) + 1;
  return tally;
}

describe.each(DATABASES.map((it) => [it.name, it] as const))(
  'the workers of one node on %s',
  (_, { create }) => {
    test('let exactly as many requests through as the limit says, together', async () => {
      const env = { OFFERBOOK_DATABASE_URL: await create() };
      await offerbook(['orgs', 'create', 'acme'], { env });
      const issued = await offerbook(['tokens', 'issue', '--org', 'acme', '--kind', 'public', '--json'], {
        env,
      });
      const { token } = JSON.parse(issued.stdout) as { token: string };
      await using server = await ServerProcess.start(['--workers', '3', '--rate-limit-public', '100'], {
        env,
      });
      await server.logged('worker ready', 3);
      expect(await ask(server.url, token, 400)).toEqual({ 200: 100, 429: 300 });
      // The last lines of the log come at the end. A worker that had to wait for a processor may have come too late for any
      // of the hundred, so that it has only refused.
      expect(await server.stop('SIGTERM')).toBe(0);
      const answered = new Set(
        server.logLines
          .map((line) => JSON.parse(line) as { status?: number; worker?: number })
          .filter(({ status }) => status === 200 || status === 429)
          .map(({ worker }) => worker),
      );
      expect([...answered].sort()).toEqual([1, 2, 3]);
    });
  },
);
