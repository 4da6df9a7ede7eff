// npm run licences: writes docs/licences.md, which lists every package in package-lock.json with its licence. A test fails
// if the list is outdated.

import { join } from 'node:path';

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** False for packages needed only by builds and tests. */
  readonly isRuntime: boolean;
}

const ROOT = join(import.meta.dir, '..');
export const LICENCES_PATH = join(ROOT, 'docs/licences.md');

export async function readDependencies(): Promise<Dependency[]> {
  const lock = (await Bun.file(join(ROOT, 'package-lock.json')).json()) as Lock;
  const byName = new Map<string, Dependency>();
  for (const [path, { version = '', license, link, dev }] of Object.entries(lock.packages)) {
    const name =
      path.split('node_modules/')[1] === undefined ? undefined : path.split('node_modules/').at(-1);
    if (name === undefined || link === true) continue;
    const dependency = { name, version, licence: license ?? 'unknown', isRuntime: dev !== true };
    byName.set(`${name} ${version}`, dependency);
  }
  return [...byName.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

export function printLicences(dependencies: readonly Dependency[]): string {
  const table = (isRuntime: boolean) => [
    '| package | version | licence |',
    '|---|---|---|',
    ...dependencies
      .filter((dependency) => dependency.isRuntime === isRuntime)
      .map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`),
  ];
  return [
    '# Licences of the dependencies',
    '',
    'Generated from `package-lock.json` by `npm run licences`; a test fails if it is outdated. The list includes packages',
    'for every platform. Bun is under the MIT licence; its executable contains libraries under their own licences.',
    '',
    '## Runtime dependencies',
    '',
    ...table(true),
    '',
    '## Development dependencies',
    '',
    ...table(false),
    '',
  ].join('\n');
}

if (import.meta.main) await Bun.write(LICENCES_PATH, printLicences(await readDependencies()));
