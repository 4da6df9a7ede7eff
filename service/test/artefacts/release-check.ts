// npm run release:check [-- --here]: builds all release artefacts in dist/ and tests each of them: the executables for all
// platforms (with --here, only this one), both npm packages as npm installs them, the image, the completions and the manual
// page. Then runs the commands in the documents with the executable. Exits with 1 at the first failure.

import { ok } from 'node:assert';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import client from '../../../client/package.json';
import manifest from '../../package.json';
import { buildExecutables, writeSums } from '../../scripts/build-executable.ts';
import { isTarget, TARGETS } from '../../scripts/bun-runtime.ts';
import { emptyMachine, NO_EMPTY_MACHINE, ROOT } from '../support/artefacts.ts';
import { removeTemporaryFolders, temporaryFolder } from '../support/databases.ts';
import { tryImage } from './image.ts';
import { run, smoke } from './smoke.ts';

const DIST = join(ROOT, 'dist');
/** First bytes of an executable, by platform. */
const MAGIC = { linux: '7f454c46', darwin: 'cffaedfe' };

const here = `${process.platform}-${process.arch}`;
const executable = join(DIST, `offerbook-${here}`);

async function step(words: string, work: () => unknown): Promise<void> {
  const startedMs = performance.now();
  await work();
  process.stdout.write(`ok  ${words} (${((performance.now() - startedMs) / 1_000).toFixed(1)} s)\n`);
}

function command(words: readonly string[], cwd: string, env: Record<string, string> = {}): string {
  const { success, stdout, stderr } = Bun.spawnSync([...words], { cwd, env: { ...process.env, ...env } });
  if (!success) throw new Error(`${words.join(' ')} failed\n${stdout}${stderr}`);
  return stdout.toString();
}

function checkVersions(): void {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  ok(
    changelog.includes(`\n## [${manifest.version}] - `),
    `CHANGELOG.md has no heading with a date for ${manifest.version}`,
  );
  ok(client.version === manifest.version, 'the packages have different versions');
}

async function buildAll(): Promise<void> {
  rmSync(DIST, { recursive: true, force: true });
  const targets = process.argv.includes('--here') ? TARGETS.filter((target) => target === here) : TARGETS;
  ok(isTarget(here), `there is no executable for ${here}, so that nothing can be tried here`);
  for (const path of await buildExecutables(targets)) {
    const start = await Bun.file(path).slice(0, 4).bytes();
    const system = path.includes('-linux-') ? 'linux' : 'darwin';
    ok(start.toHex() === MAGIC[system], `${path} is no executable for ${system}`);
  }
}

async function packAll(): Promise<void> {
  for (const workspace of [manifest.name, client.name]) {
    command(['npm', 'pack', '--silent', '--workspace', workspace, '--pack-destination', DIST], ROOT);
  }
  await writeSums(DIST);
  command(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], DIST);
}

const SERVICE_TARBALL = join(DIST, `offerbook-${manifest.version}.tgz`);
const CLIENT_TARBALL = join(DIST, `offerbook-client-${client.version}.tgz`);
const INSTALL = ['npm', 'install', '--no-audit', '--no-fund', '--silent', '--prefer-offline'];

function newProject(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  return folder;
}

async function tryInstalled(...options: string[]): Promise<void> {
  const cwd = newProject();
  command([...INSTALL, ...options, SERVICE_TARBALL], cwd);
  await smoke({ command: [join(cwd, 'node_modules/.bin/offerbook')], cwd });
}

async function tryGlobal(): Promise<void> {
  const prefix = temporaryFolder();
  command([...INSTALL, '--global', '--prefix', prefix, SERVICE_TARBALL], prefix);
  await smoke({ command: [join(prefix, 'bin/offerbook')], cwd: temporaryFolder() });
}

function tryClient(): void {
  const cwd = newProject();
  command([...INSTALL, CLIENT_TARBALL], cwd);
  const words =
    "import { OfferbookClient } from '@offerbook/client'; process.stdout.write(typeof OfferbookClient);";
  ok(command(['node', '--input-type=module', '--eval', words], cwd) === 'function');
}

async function tryOnEmptyMachine(): Promise<void> {
  const { command: enter, root } = emptyMachine(executable);
  command(['cp', '-r', join(ROOT, 'examples/data'), join(root, 'data')], ROOT);
  await smoke({ command: enter, env: { OFFERBOOK_DATABASE_URL: 'sqlite:/state/offerbook.db' } }, '/data');
}

async function writeExtras(): Promise<void> {
  const folder = join(DIST, 'completions');
  mkdirSync(folder);
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(
      join(folder, `offerbook.${shell}`),
      await run(['completion', shell], { command: [executable] }),
    );
  }
  writeFileSync(join(DIST, 'offerbook.1'), await run(['manual'], { command: [executable] }));
}

function tryDocuments(): void {
  const test = [process.execPath, 'test', '--timeout', '180000', '--test-name-pattern', 'the commands in'];
  command([...test, 'service/test/docs/documents.test.ts'], ROOT, { TEST_COMMAND: executable });
}

function tryGenerators(): void {
  const test = [process.execPath, 'test', '--timeout', '180000', 'service/test/docs/generators.long.test.ts'];
  command(test, ROOT, { TEST_GENERATORS: 'all' });
}

try {
  await step(`version ${manifest.version} is in the changelog and in both packages`, checkVersions);
  await step('the executables are built', buildAll);
  await step('both npm packages are packed, and the sums of everything are right', packAll);
  await step('the executable works', () => smoke({ command: [executable], cwd: temporaryFolder() }));
  if (NO_EMPTY_MACHINE === undefined) {
    await step('it works where there is nothing but the C library', tryOnEmptyMachine);
    await step('the image is built and works', () => tryImage(`dist/offerbook-${here}`));
  } else {
    process.stdout.write(
      `not tried: a machine with nothing else on it, and the image (${NO_EMPTY_MACHINE})\n`,
    );
  }
  await step('the package works in an empty project', tryInstalled);
  await step('it works without install scripts', () => tryInstalled('--ignore-scripts'));
  await step('it works globally', tryGlobal);
  await step('the client works in an empty project', tryClient);
  await step('the completions and the manual are written', writeExtras);
  await step('the commands of the documents work with the executable', tryDocuments);
  await step('every generator makes a client of the document', tryGenerators);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  removeTemporaryFolders();
}
