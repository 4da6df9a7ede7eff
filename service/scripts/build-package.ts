// npm run build --workspace offerbook: the program for the npm package, in service/dist. The packages of the repository
// are inside; those of others are dependencies of the package, and stay outside.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../package.json';
import { programConfig, SERVICE } from './program.ts';

export async function buildPackage(): Promise<void> {
  const outdir = join(SERVICE, 'dist');
  rmSync(outdir, { recursive: true, force: true });
  await Bun.build({
    ...(await programConfig(join(SERVICE, 'src/main.ts'))),
    outdir,
    sourcemap: 'linked',
    external: Object.keys(manifest.dependencies),
  });
}

if (import.meta.main) await buildPackage();
