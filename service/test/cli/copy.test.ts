// Moving to another database, on the command line: who has a token goes on with it.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { offerbook, type RunOptions, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { retailer, transaction } from '../support/fixtures.ts';
import { newPostgresDatabase } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';

test('what a poller gets from a copy is what it would have got', async () => {
  const env = { OFFERBOOK_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'small.db')}` };
  const run = async (args: string, options: RunOptions = {}) => {
    const { code, stdout } = await offerbook(args.split(' '), { env, ...options });
    expect(code).toBe(0);
    return stdout;
  };
  await run('orgs create acme');
  await run('import catalogue -', { stdin: ndjson([retailer(1), retailer(2)]) });
  await run('import transactions - --org acme', { stdin: ndjson([1, 2, 3].map((n) => transaction(n))) });
  const token = (await run('tokens issue --org acme --kind private')).trim();

  const to = await newPostgresDatabase();
  const copied = await offerbook(['copy', '--json'], { env: { ...env, OFFERBOOK_TO_URL: to } });
  expect({ ...copied, stdout: JSON.parse(copied.stdout) }).toEqual({
    code: 0,
    stdout: { organisations: 1, tokens: 1, retailers: 2, transactions: 3, seconds: expect.any(Number) },
    stderr: '',
  });
  const answers = [];
  for (const url of [env.OFFERBOOK_DATABASE_URL, to]) {
    await using server = await ServerProcess.start([], { env: { OFFERBOOK_DATABASE_URL: url } });
    const response = await fetch(`${server.url}/v1/transactions/?limit=2`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    answers.push({
      status: response.status,
      completeThrough: response.headers.get('Complete-Through'),
      page: await response.json(),
    });
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]).toMatchObject({ status: 200, page: { data: [{}, {}] } });

  expect(await offerbook(['copy', '--to', to], { env })).toEqual({
    code: 3,
    stdout: '',
    stderr: 'offerbook: the database to copy to is not empty: nothing was copied\n',
  });
  expect(await offerbook(['copy'], { env })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'offerbook: say where to copy to, with --to or OFFERBOOK_TO_URL\n',
  });
});
