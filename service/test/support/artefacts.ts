// Release artefacts, built once per test run: the executable and the tarball of the npm package.

import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildForThisMachine } from '../../scripts/build-executable.ts';
import { keptFolder, temporaryFolder } from './databases.ts';

export const ROOT = join(import.meta.dir, '../../..');

let executable: Promise<string> | undefined;

/** The executable for this machine. */
export function builtExecutable(): Promise<string> {
  executable ??=
    process.env.TEST_COMMAND === undefined
      ? buildForThisMachine(keptFolder())
      : Promise.resolve(process.env.TEST_COMMAND);
  return executable;
}

export interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

let packed: Promise<Packed> | undefined;

export function packedService(): Promise<Packed> {
  packed ??= pack();
  return packed;
}

/** Packs like `npm pack`, but without its build script: the build is shared with the executable. */
async function pack(): Promise<Packed> {
  const { buildPackage } = await import('../../scripts/build-package.ts');
  await buildPackage();
  const folder = keptFolder();
  const command = ['npm', 'pack', '--ignore-scripts', '--json', '--silent', '--pack-destination', folder];
  const npm = Bun.spawnSync(command, { cwd: join(ROOT, 'service') });
  if (!npm.success) throw new Error(`npm pack failed: ${npm.stderr}`);
  const [{ filename, files }] = JSON.parse(npm.stdout.toString());
  return { tarball: join(folder, filename), files: files.map(({ path }: { path: string }) => path).sort() };
}

/** Why an empty root folder cannot be set up here; undefined if it can. */
export const NO_EMPTY_MACHINE =
  process.platform !== 'linux'
    ? 'only Linux has mount namespaces'
    : process.getuid?.() !== 0
      ? 'only root can change the root folder'
      : undefined;

/**
 * Creates a root folder with only the executable, the C library that it is linked to, /proc and /dev/null: no shell, no
 * Node, no /etc, no /tmp. Returns the command that starts the executable there as the user nobody.
 */
export function emptyMachine(path: string): { readonly command: string[]; readonly root: string } {
  const root = temporaryFolder();
  chmodSync(root, 0o755);
  for (const folder of ['dev', 'proc', 'state']) mkdirSync(join(root, folder));
  writeFileSync(join(root, 'dev/null'), '');
  chmodSync(join(root, 'state'), 0o777);
  copyFileSync(path, join(root, 'offerbook'));
  for (const library of sharedLibraries(path)) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    cpSync(library, join(root, library), { dereference: true });
  }
  const enter = [
    `cd '${root}'`,
    'mount -t proc proc proc',
    'mount --bind /dev/null dev/null',
    'exec chroot --userspec=65534:65534 . /offerbook "$@"',
  ].join(' && ');
  return { command: ['unshare', '--mount', 'sh', '-c', enter, 'sh'], root };
}

/** The files of the C library that an executable is linked to. */
export function sharedLibraries(path: string): readonly string[] {
  return (
    Bun.spawnSync(['ldd', path])
      .stdout.toString()
      .match(/\/\S+\.so\S*/g) ?? []
  );
}
