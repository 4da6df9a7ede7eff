// The executable: a single file that needs only the C library and has all features of a checkout.

import { describe, expect, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import manifest from '../../package.json';
import { loadRelease } from '../fixtures/load-release.ts';
import { builtExecutable, emptyMachine, NO_EMPTY_MACHINE, ROOT } from '../support/artefacts.ts';
import { offerbook } from '../support/command.ts';
import { SQLITE, temporaryFolder } from '../support/databases.ts';
import { HOSTILE_VARIABLES, hostileFolder } from '../support/hostile-folder.ts';
import { lacks } from '../support/programs.ts';
import { Sandbox } from '../support/sandbox.ts';
import { run, smoke } from './smoke.ts';

const DATA = join(ROOT, 'examples/data');
const path = await builtExecutable();

test.skipIf(lacks('git'))('the executable prints its version and commit', async () => {
  const stdout = await run(['--version'], { command: [path] });
  const commit = Bun.spawnSync(['git', 'rev-parse', '--short=12', 'HEAD'], { cwd: ROOT })
    .stdout.toString()
    .trim();
  expect(stdout).toMatch(new RegExp(`^${manifest.version} \\(commit ${commit}(, modified)?\\)\n$`));
});

test('the executable is published with its SHA-256 checksum', async () => {
  const sums = readFileSync(join(dirname(path), 'SHA256SUMS'), 'utf8');
  const digest = new Bun.CryptoHasher('sha256').update(await Bun.file(path).bytes()).digest('hex');
  expect(sums).toBe(`${digest}  ${basename(path)}\n`);
});

test.skipIf(NO_EMPTY_MACHINE !== undefined)(
  `the executable serves, imports and uses workers on a machine with only the C library${NO_EMPTY_MACHINE === undefined ? '' : ` (${NO_EMPTY_MACHINE})`}`,
  async () => {
    const { command, root } = emptyMachine(path);
    cpSync(DATA, join(root, 'data'), { recursive: true });
    const env = { OFFERBOOK_DATABASE_URL: 'sqlite:/state/offerbook.db', HOME: undefined, TMPDIR: undefined };
    await smoke({ command, env }, '/data');
  },
);

test('npm installs the client from the address where the sandbox serves it', async () => {
  await using sandbox = await Sandbox.startWith({ command: [path], cwd: temporaryFolder() });
  const project = temporaryFolder();
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const { url: address } = await fetch(`${sandbox.url}/client/offerbook-client.tgz`);
  const npm = Bun.spawn(['npm', 'install', '--no-audit', '--no-fund', '--silent', address], { cwd: project });
  expect(await npm.exited).toBe(0);
  const program = (from: string) => `import { OfferbookClient } from ${JSON.stringify(from)};
    const client = new OfferbookClient({ baseUrl: '${sandbox.url}', token: process.env.TOKEN });
    process.stdout.write(String((await client.retailers({ limit: 3 })).data.length));`;
  writeFileSync(join(project, 'package.js'), program('@offerbook/client'));
  writeFileSync(join(project, 'module.js'), program('./offerbook-client.js'));
  await Bun.write(
    join(project, 'offerbook-client.js'),
    await fetch(`${sandbox.url}/client/offerbook-client.js`),
  );
  const printed = ['package.js', 'module.js'].map((file) => {
    const env = { ...process.env, TOKEN: sandbox.token('pub') };
    return Bun.spawnSync(['node', file], { cwd: project, env, stderr: 'inherit' }).stdout.toString();
  });
  expect(printed).toEqual(['3', '3']);
});

describe('in a folder that its user controls', () => {
  test('the executable upgrades a database created by an earlier release, with all organisations', async () => {
    const { url } = await loadRelease(SQLITE, 'v0.1.0');
    await run(['migrate', '--database', url], { command: [path] });
    const fromSource = await run(['orgs', 'list', '--database', url], {});
    expect(await run(['orgs', 'list', '--database', url], { command: [path] })).toBe(fromSource);
    expect(fromSource).not.toBe('');
  });

  test('the executable does not run code from a local bunfig.toml or read a local .env', async () => {
    const { code, stdout, stderr } = await offerbook(['orgs', 'list'], {
      command: [path],
      cwd: hostileFolder(),
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('offerbook.db');
  });

  test.each(['BUN_OPTIONS', 'BUN_INSPECT_PRELOAD'] as const)(
    'the executable imports from stdin although it restarts, without %s, which the restarted process ignores',
    async (name) => {
      const options = { command: [path], cwd: hostileFolder(), env: { [name]: HOSTILE_VARIABLES[name] } };
      const stdin = readFileSync(join(DATA, 'catalogue.ndjson'));
      expect(await run(['import', 'catalogue', '-'], { ...options, stdin })).toMatch(
        /^evil\nImported 2 retailers/,
      );
    },
  );
});
