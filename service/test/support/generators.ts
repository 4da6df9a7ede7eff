// The generators of docs/generators.md, installed on demand in a separate project like an integrator's. They need more
// packages than the rest of this repository and their own version of TypeScript.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the project with the generators. */
export const GENERATORS = join(import.meta.dir, '../generators');

export function requireGenerators(): void {
  if (areInstalled()) return;
  const install = ['npm', 'ci', '--no-audit', '--no-fund', '--prefer-offline'];
  const { exitCode, stderr } = Bun.spawnSync(install, { cwd: GENERATORS, stdout: 'ignore', stderr: 'pipe' });
  if (exitCode !== 0) {
    const way = `cd service/test/generators && ${install.join(' ')}`;
    throw new Error(`The test of docs/generators.md needs them. Install them with: ${way}\n${stderr}`);
  }
}

/** True if all generators are installed in the versions of the project's package.json. */
function areInstalled(): boolean {
  const { devDependencies } = JSON.parse(readFileSync(join(GENERATORS, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  return Object.entries(devDependencies).every(([name, version]) => {
    const path = join(GENERATORS, 'node_modules', name, 'package.json');
    return (
      existsSync(path) && (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version === version
    );
  });
}
