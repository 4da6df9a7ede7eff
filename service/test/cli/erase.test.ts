// Erasure and deletion on the command line: their output, which never contains the user id.

import { expect, test } from 'bun:test';
import { commandLine, printed, rejected } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

test('erase counts and erases a user without printing the user id, and orgs delete deletes the organisation', async () => {
  const cwd = temporaryFolder();
  const { run, json } = commandLine(() => ({ cwd }));
  await run('orgs create acme');
  const rows = [1, 2].map((n) => transaction(n, { passbackUid: '-' }));
  await run('import transactions - --org acme', { stdin: ndjson(rows) });
  const token = await run('tokens issue --org acme --kind private');
  expect(token.code).toBe(0);

  const erase = (args: string, stdin = '-\n') => run(`erase --org acme ${args}`, { stdin });
  expect(await erase('--passback-uid - --dry-run')).toEqual(
    printed(
      'Would erase the user from 2 transactions, 0 earlier versions and 0 clicks; nothing was changed.\n',
    ),
  );
  expect(await erase('--passback-uid - --json')).toEqual(
    printed('{"transactions":2,"versions":0,"clicks":0}\n'),
  );
  expect(await erase('--passback-uid -')).toEqual(
    printed('Erased the user from 0 transactions, 0 earlier versions and 0 clicks.\n'),
  );
  expect(await erase('--passback-uid -', '\n')).toEqual(rejected('--passback-uid must not be empty'));
  expect(await run('erase --org nobody --passback-uid anna')).toEqual(
    rejected('there is no organisation "nobody"; list them with: offerbook orgs list'),
  );

  expect(await run('orgs delete acme')).toMatchObject({ code: 3, stdout: '' });
  expect(await run('orgs delete acme --dry-run')).toEqual(
    printed(
      'Would delete "acme" with 1 token, 2 transactions, 2 earlier versions, 0 clicks and 1 import in the import log; nothing was changed.\n',
    ),
  );
  expect(await run('orgs delete acme --revoke-tokens --json')).toEqual(
    printed('{"tokens":1,"transactions":2,"versions":2,"clicks":0,"imports":1}\n'),
  );
  expect(await run('orgs delete acme')).toMatchObject({ code: 2, stdout: '' });
  const audit = (await json('audit --org acme')) as { action: string }[];
  expect(audit.map(({ action }) => action)).toEqual([
    'organisation deleted',
    'user erased',
    'user erased',
    'token issued',
    'organisation created',
  ]);
});
