// Commands whose output cannot be written, because the reader closed the pipe or the disk is full.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { COMMAND, offerbook, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { id, offer, retailer, transaction } from '../support/fixtures.ts';
import { watchCommand } from '../support/leak-watch.ts';
import { ndjson } from '../support/test-node.ts';

/** A pipe whose reader has closed it before the first byte. */
const READER_GONE = 'mkfifo "$PIPE" && exec 4<>"$PIPE" 5>"$PIPE" 4<&- && exec "$0" "$@" >&5';
const DISK_FULL = 'exec "$0" "$@" > /dev/full';
const QUIET = { code: 0, stderr: '' };
const FULL = { code: 1, stderr: 'offerbook: cannot write the output: no space left on device\n' };

/** FILE stands for the imported catalogue. */
const COMMANDS = [
  'export catalogue',
  'export transactions --org acme',
  'import catalogue FILE',
  'tokens list',
  'tokens list --json',
  'orgs list',
  'imports list',
  'imports show 1',
  `transactions show ${id(1)}`,
  'transactions find --passback-uid user-1',
  'audit',
  'purge --older-than 400d',
  'openapi',
  '--help',
  'serve --help',
  '--version',
];

async function run(shell: string, args: readonly string[], env: Record<string, string>, stdin = '') {
  const child = Bun.spawn(['/bin/sh', '-c', shell, COMMAND, ...args], {
    stdin: Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...env, PIPE: join(temporaryFolder(), 'pipe') },
  });
  const { stderr, exited } = watchCommand(args, child);
  return { code: await exited, stderr: await new Response(stderr).text() };
}

const env = { OFFERBOOK_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'offerbook.db')}` };
await offerbook(['orgs', 'create', 'acme'], { env });
const issue = ['tokens', 'issue', '--org', 'acme', '--kind', 'private'];
const privateToken = (await offerbook(issue, { env })).stdout.trim();
const exportFile = join(temporaryFolder(), 'catalogue.ndjson');
// Larger than the buffer of a pipe.
const retailers = Array.from({ length: 500 }, (_, i) =>
  retailer(i + 1, { cashbackOffers: [offer(i + 1_000)] }),
);
await Bun.write(exportFile, ndjson(retailers));
await offerbook(['import', 'catalogue', exportFile], { env });
const transactions = ndjson(Array.from({ length: 3_000 }, (_, i) => transaction(i + 1)));
await offerbook(['import', 'transactions', '-', '--org', 'acme'], { env, stdin: transactions });

test.each(COMMANDS)('%s exits cleanly if its reader is gone, and reports a full disk', async (line) => {
  const args = line.replace('FILE', exportFile).split(' ');
  expect(await run(READER_GONE, args, env)).toEqual(QUIET);
  expect(await run(DISK_FULL, args, env)).toEqual(FULL);
});

test('a rejected import still prints its problems and exits 2', async () => {
  for (const shell of [READER_GONE, DISK_FULL]) {
    const { code, stderr } = await run(shell, ['import', 'catalogue', '-', '--json'], env, '{"id":1}\n');
    expect({ code, firstLine: stderr.split('\n')[0] }).toEqual({
      code: 2,
      firstLine: expect.stringMatching(/^offerbook: line 1/) as unknown as string,
    });
  }
});

test('follow exits cleanly if its reader is gone, and reports a full disk', async () => {
  await using server = await ServerProcess.start([], { env });
  const args = ['follow', '--once', '--url', server.url];
  const withToken = { ...env, OFFERBOOK_PRIVATE_TOKEN: privateToken };
  expect(await run(READER_GONE, args, withToken)).toEqual(QUIET);
  expect(await run(DISK_FULL, args, withToken)).toEqual(FULL);
});
