// Links and public ids of organisations on the command line.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRINTED_UUID_PATTERN } from '../../src/domain/uuid.ts';
import { offerbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { id } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

test('organisations are listed with their public ids; links are imported, entered in the book, and refused without a trace', async () => {
  const cwd = temporaryFolder();
  const run = (args: string, stdin?: string) =>
    offerbook(args.split(' '), { cwd, ...(stdin === undefined ? {} : { stdin }) });
  const { publicId } = JSON.parse((await run('orgs create acme --json')).stdout);
  expect(publicId).toMatch(PRINTED_UUID_PATTERN);
  const [header, row] = (await run('orgs list')).stdout.split('\n').map((line) => line.split(/ {2,}/));
  expect(header).toEqual(['NAME', 'PUBLIC ID', 'CREATED']);
  expect(row).toEqual(['acme', publicId, expect.any(String)]);

  writeFileSync(
    join(cwd, 'links.ndjson'),
    ndjson([{ retailerId: id(1), template: 'https://network.example/?s={click}' }]),
  );
  const imported = await run('import links links.ndjson --by me --source network');
  expect(imported.stdout).toMatch(
    /^Imported 1 link: 1 added, 0 changed, 0 unchanged, 0 withdrawn \(\d\.\d s\)\.\n$/,
  );
  const bad = await run(
    'import links - --by me',
    `{"dealId":"${id(2)}","template":"http://network.example/"}`,
  );
  expect(bad).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'line 1: template must start with https://, a host without a user, and a path\nNothing was imported: 1 of 1 row is bad.\n',
  });
  const book = JSON.parse((await run('imports list --kind links --json')).stdout);
  expect(book).toMatchObject([
    { kind: 'links', outcome: 'refused', counts: { read: 1, added: 0, invalid: 1 } },
    {
      kind: 'links',
      outcome: 'done',
      by: 'me',
      source: 'network',
      fileName: 'links.ndjson',
      counts: { added: 1 },
    },
  ]);
}, 60_000);
