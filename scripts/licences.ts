// npm run licences: prints every package in package-lock.json with its licence.

import { join } from 'node:path';

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** False for packages needed only by builds and tests. */
  readonly isRuntime: boolean;
}

const ROOT = join(import.meta.dir, '..');

export async function readDependencies(): Promise<Dependency[]> {
  const lock = (await Bun.file(join(ROOT, 'package-lock.json')).json()) as {
    packages: Record<string, LockedPackage>;
  };
  const byName = new Map<string, Dependency>();
  for (const [path, { version = '', license, link, dev }] of Object.entries(lock.packages)) {
    const [, name] = /.*node_modules\/(.+)$/.exec(path) ?? [];
    if (name === undefined || link === true) continue;
    const dependency = { name, version, licence: license ?? 'unknown', isRuntime: dev !== true };
    byName.set(`${name} ${version}`, dependency);
  }
  return [...byName.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

if (import.meta.main) {
  for (const { name, version, licence, isRuntime } of await readDependencies())
    process.stdout.write(`${name} ${version}: ${licence} (${isRuntime ? 'runtime' : 'development'})\n`);
}
