// Concurrent and interrupted imports: never a mixture of two, never half of one.

import { describe, expect, test } from 'bun:test';
import { offerbook, spawnWithInput } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';
import { offer, retailer, transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';
import { untilWriting } from '../support/until-writing.ts';

/** A catalogue in which every retailer has the import's name. */
function catalogue(name: string, count = 300) {
  return ndjson(
    Array.from({ length: count }, (_, i) => retailer(i + 1, { name, cashbackOffers: [offer(i + 1)] })),
  );
}

describe.each(DATABASES.map((it) => [it.name, it] as const))('on %s', (_, database) => {
  test('after several concurrent imports, the catalogue equals exactly one of the imported files', async () => {
    const url = await database.create();
    const names = ['first', 'second', 'third'];
    const runs = await Promise.all(
      names.map((name) =>
        offerbook(['import', 'catalogue', '-', '--database', url], { stdin: catalogue(name) }),
      ),
    );
    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      names.map(() => ({ code: 0, stderr: '' })),
    );
    const { stdout } = await offerbook(['export', 'catalogue', '--database', url]);
    expect(names.map((name) => catalogue(name))).toContain(stdout);
  });

  test.each(database === DATABASES[0] ? (['SIGINT', 'SIGTERM', 'SIGKILL'] as const) : (['SIGKILL'] as const))(
    '%s during an import leaves all data unchanged',
    async (signal) => {
      const url = await database.create();
      const env = { OFFERBOOK_DATABASE_URL: url };
      await offerbook(['orgs', 'create', 'acme'], { env });
      await offerbook(['import', 'transactions', '-', '--org', 'acme'], {
        env,
        stdin: ndjson([transaction(1)]),
      });
      const before = await offerbook(['export', 'transactions', '--org', 'acme'], { env });

      const child = spawnWithInput(['import', 'transactions', '-', '--org', 'acme'], env);
      // Enough rows for several batches, and the pipe stays open, so the import cannot finish.
      child.stdin.write(
        ndjson(Array.from({ length: 5_000 }, (__, i) => transaction(i + 1, { status: 'CONFIRMED' }))),
      );
      await child.stdin.flush();
      await untilWriting(url);
      child.kill(signal);
      expect(await child.exited).not.toBe(0);
      expect(await offerbook(['export', 'transactions', '--org', 'acme'], { env })).toEqual(before);
      // No lock remains.
      const again = await offerbook(['import', 'transactions', '-', '--org', 'acme', '--json'], {
        env,
        stdin: ndjson([transaction(1, { status: 'CONFIRMED' })]),
      });
      expect([again.code, JSON.parse(again.stdout).changed]).toEqual([0, 1]);
    },
  );
});
