// Rate limits that apply to a whole node, across its workers.

import { describe, expect, test } from 'bun:test';
import { offerbook, ServerProcess } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';

/** Sends many simultaneous requests for one list, each on its own connection; returns the count of each status. */
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

describe.each(DATABASES.slice(0, 1).map((it) => [it.name, it] as const))(
  'the workers of one node on %s',
  (_, { create }) => {
    test('the workers together accept exactly as many requests as the limit allows', async () => {
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
      // Stop first, because the last log lines are written at the end. A worker that had to wait for a core may have returned
      // only 429.
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
