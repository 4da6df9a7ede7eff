// The commands in the documents work as written.

import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND, offerbook, runProgram, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Block, blocksOf, DOCUMENTS, ROOT, readDocument } from '../support/documents.ts';
import { leakWatch } from '../support/leak-watch.ts';
import { freePort } from '../support/postgres-server.ts';
import { lacks } from '../support/programs.ts';
import { isOk, until } from '../support/until.ts';

/** With job control, each background server has its own process group, so that its child processes end with it. */
const STOP_SERVERS = `set -m; trap 'for job in $(jobs -p); do kill -- -$job; done' EXIT`;

/** The README's line that puts the checkout's command on the PATH; removed if TEST_COMMAND names another command. */
const FIND_COMMAND = process.env.TEST_COMMAND === undefined ? '' : /^export PATH=.*$/m;

/** Creates a folder with a link to the command under test: the checkout's, or TEST_COMMAND. */
function commandFolder(): string {
  const folder = temporaryFolder();
  symlinkSync(COMMAND, join(folder, 'offerbook'));
  return folder;
}

/** The commands of a document as one script. `sh server` blocks run in the background. Other tests run all other kinds. */
function script(document: string): string {
  return blocksOf(document).flatMap(toCommands).join('\n');
}

function toCommands({ language, kind, code }: Block): string[] {
  if (language === 'ts' && kind === '') return [`bun run - <<'END_OF_TYPESCRIPT'\n${code}END_OF_TYPESCRIPT`];
  if (language !== 'sh' || !['', 'server'].includes(kind)) return [];
  if (kind === '') return [code];
  return [
    `${code.trim()} > /dev/null &`,
    'until curl -sf http://localhost:8080/readyz > /dev/null; do sleep 0.05; done',
  ];
}

/** The client's own tests run the programs in its README. */
const WITH_COMMANDS = DOCUMENTS.filter((it) => it !== 'client/README.md' && script(it) !== '');

test.skipIf(lacks('bash', 'curl')).each(WITH_COMMANDS)(
  'the commands in %s work as written, in order',
  async (document) => {
    const port = String(await freePort());
    const commands = script(document).replaceAll('8080', port).replace(FIND_COMMAND, '');
    const { code, stdout, stderr } = await runProgram(
      ['bash', '-euo', 'pipefail', '-c', `${STOP_SERVERS}\n${commands}`],
      {
        cwd: ROOT,
        env: {
          ...process.env,
          PATH: `${commandFolder()}:${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
          OFFERBOOK_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'docs.db')}`,
        },
      },
    );
    leakWatch.noteOutput(`stdout of ${document}`, stdout);
    leakWatch.noteOutput(`stderr of ${document}`, stderr);
    expect({ code, stderr: code === 0 ? '' : stderr, stdout: code === 0 ? '' : stdout }).toEqual({
      code: 0,
      stderr: '',
      stdout: '',
    });
    // `curl -s` exits with 0 even for an error response, so check that there is none.
    expect(stdout).not.toContain('"requestId":"');
    if (document === 'README.md')
      expect(stdout).toMatch(
        /^location: https:\/\/network\.example\/click\?shop=17&sub=[0-9A-Za-z_-]+&to=/im,
      );
  },
  180_000,
);

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readDocument(document);

  test('the document never asks readers to install a package whose name anyone could register', () => {
    expect(text.match(/.*(npx|npm (i|install|exec)|bunx|pnpm dlx) (--\S+ )*@?offerbook\b.*/g) ?? []).toEqual(
      [],
    );
  });

  test('the document sets pipefail before the first pipe into an import', () => {
    const [before = '', pipe] = text.split(/^.*\| offerbook import /m, 2);
    if (pipe !== undefined) expect(before).toMatch(/^ *set -o pipefail/m);
  });
});

test.skipIf(lacks('bash'))(
  'restoring a documented backup restores everything, and pollers miss nothing',
  async () => {
    const cwd = temporaryFolder();
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await offerbook(args, { cwd });
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    const runBlock = (kind: string) => {
      const commands =
        blocksOf('docs/operations/backups.md').find((block) => block.kind === kind)?.code ?? 'false';
      const env = { ...process.env, PATH: `${commandFolder()}:${process.env.PATH}` };
      return Bun.spawnSync(['bash', '-euo', 'pipefail', '-c', commands], { cwd, env }).exitCode;
    };
    const file = join(ROOT, 'examples/data/transactions.csv');
    const changedFile = join(cwd, 'changed.ndjson');
    await run('orgs', 'create', 'acme');
    await run('import', 'transactions', file, '--org', 'acme');
    const { token } = JSON.parse(
      await run('tokens', 'issue', '--org', 'acme', '--kind', 'private', '--json'),
    );
    const poll = async (server: ServerProcess, since = '2020-01-01') => {
      const response = await fetch(`${server.url}/v1/transactions/?updatedAtGreaterThan=${since}`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      const { data } = (await response.json()) as { data: { id: string; status: string }[] };
      return {
        statuses: data.map(({ status }) => status),
        complete: response.headers.get('Complete-Through') ?? '',
      };
    };

    const server = await ServerProcess.start([], { cwd });
    const before = await poll(server);
    const exported = await run('export', 'transactions', '--org', 'acme');
    expect(runBlock('backup')).toBe(0);
    await Bun.write(changedFile, exported.replace('PENDING', 'CONFIRMED'));
    await run('import', 'transactions', changedFile, '--org', 'acme');
    const after = await poll(server);
    expect([before.statuses, after.statuses]).toEqual([
      ['PENDING', 'CONFIRMED'],
      ['CONFIRMED', 'CONFIRMED'],
    ]);
    // A restore is rejected while a server runs.
    expect(runBlock('restore')).toBe(3);
    // A killed server leaves its write-ahead log behind.
    await server.stop('SIGKILL');

    expect(runBlock('restore')).toBe(0);
    await using restored = await ServerProcess.start([], { cwd });
    const again = await poll(restored, after.complete);
    expect([again.statuses, again.complete > after.complete]).toEqual([before.statuses, true]);
    await run('import', 'transactions', changedFile, '--org', 'acme');
    const { statuses, complete } = await poll(restored, again.complete);
    expect([statuses, complete > again.complete]).toEqual([['CONFIRMED'], true]);
  },
);

test('an interrupted backup does not leave a file that looks like a backup', async () => {
  const cwd = temporaryFolder();
  await offerbook(['orgs', 'create', 'acme'], { cwd });
  // Limits files to 16 blocks, so that the process fails or is killed by a signal while it writes the copy.
  const command = ['/bin/sh', '-c', 'ulimit -f 16; exec "$0" "$@"', COMMAND];
  const { code } = await offerbook(['backup', 'copy'], { cwd, command });
  expect(code).not.toBe(0);
  expect(readdirSync(cwd).filter((name) => name === 'copy')).toEqual([]);
  expect((await offerbook(['restore', 'copy', '--replace'], { cwd })).code).toBe(2);
});

test('the systemd unit with the settings in installing.md starts a ready server and stops with code 0', async () => {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/offerbook.service'), 'utf8');
  const environment =
    blocksOf('docs/operations/installing.md').find(({ language }) => language === 'ini')?.code ?? '';
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const state = temporaryFolder();
  const [port, adminPort] = [String(await freePort()), String(await freePort())];
  const settings = environment.replaceAll('/var/lib/offerbook', state).replace('9090', adminPort).trim();
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    OFFERBOOK_PORT: port,
    ...Object.fromEntries(settings.split('\n').map((line) => line.split('='))),
  };
  await offerbook(['orgs', 'create', 'acme'], { env });
  const child = Bun.spawn(command.replace('/usr/local/bin/offerbook', COMMAND).split(' '), {
    cwd: state,
    stdout: 'ignore',
    stderr: 'pipe',
    env,
  });
  for (const target of [`${port}/readyz`, `${adminPort}/metrics`])
    await until(() => isOk(`http://127.0.0.1:${target}`));
  child.kill('SIGTERM');
  const stderr = await new Response(child.stderr).text();
  expect({ code: await child.exited, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await isOk(`http://127.0.0.1:${port}/readyz`)).toBe(false);
});
