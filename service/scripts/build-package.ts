// npm run build --workspace offerbook: builds the npm package's program in service/dist. The program bundles this repository's
// packages; third-party packages remain dependencies.

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
