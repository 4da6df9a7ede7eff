// The package as integrators get it: packed, and installed into an empty project in a temporary folder.

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Finished, runProgram } from '../../../service/test/support/command.ts';
import { keptFolder, temporaryFolder } from '../../../service/test/support/databases.ts';

const CLIENT = join(import.meta.dir, '../..');
const MODULES = join(CLIENT, '../node_modules');

let template: ReturnType<typeof packAndInstall> | undefined;

/** Creates a project for the caller. npm installs the package once for all projects. */
export async function installPackage() {
  template ??= packAndInstall();
  const installed = await template;
  const folder = temporaryFolder();
  cpSync(installed.folder, folder, { recursive: true, verbatimSymlinks: true });
  return { ...installed, folder };
}

/** Returns the folder of the project, the path of the package that is installed in it, and the files that the package contains. */
async function packAndInstall() {
  const folder = keptFolder();
  const [packed] = JSON.parse((await run([process.execPath, 'scripts/pack.ts', folder], CLIENT)).stdout) as [
    { filename: string; files: { path: string }[] },
  ];
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run(
    ['npm', 'install', '--offline', '--no-audit', '--no-fund', '--silent', `./${packed.filename}`],
    folder,
  );
  const files = packed.files.map(({ path }) => path).sort();
  return { folder, tarball: join(folder, packed.filename), files };
}

/** Adds Node's types to the project, like `npm install @types/node`. */
export function addNodeTypes(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(MODULES, '@types/node'), join(folder, 'node_modules/@types/node'));
}

export const TYPESCRIPT = join(MODULES, '.bin/tsc');
/** TypeScript 5.0, the oldest supported version. */
export const OLDEST_TYPESCRIPT = join(CLIENT, 'node_modules/.bin/tsc');

/** Runs a program; if it fails, throws an error with its output. */
export async function run(
  command: readonly string[],
  cwd: string,
  environment: Record<string, string> = {},
): Promise<Pick<Finished, 'stdout' | 'stderr'>> {
  const env = { ...process.env, ...environment };
  const { code, stdout, stderr } = await runProgram(command, { cwd, env });
  if (code !== 0) throw new Error(`${command.join(' ')} ended with code ${code}\n${stdout}${stderr}`);
  return { stdout, stderr };
}
