// Builds the package into dist: as ES modules and as CommonJS, each with its declarations and maps.
//   npm run build --workspace @offerbook/client

import { rmSync } from 'node:fs';
import { join } from 'node:path';

export const CLIENT = join(import.meta.dir, '..');
/** The project's compiler. The compiler in client/node_modules is the oldest that the client's types must support. */
const TSC = join(CLIENT, '../node_modules/.bin/tsc');

/** `client` is the package's folder or a copy of it. */
export async function buildClient(client: string): Promise<void> {
  const dist = join(client, 'dist');
  rmSync(dist, { recursive: true, force: true });
  for (const project of ['tsconfig.build.json', 'tsconfig.commonjs.json']) {
    const { exitCode } = Bun.spawnSync([TSC, '--project', project], {
      cwd: client,
      stdout: 'inherit',
      stderr: 'inherit',
    });
    if (exitCode !== 0) process.exit(exitCode);
  }
  // Without this file, Node and TypeScript would treat these files as ES modules, like the rest of the package.
  await Bun.write(join(dist, 'commonjs/package.json'), '{ "type": "commonjs" }\n');

  // The compiler keeps .ts extensions in declarations, which not all module resolutions support.
  for (const path of new Bun.Glob('*/*.d.ts').scanSync({ cwd: dist, absolute: true })) {
    const text = await Bun.file(path).text();
    await Bun.write(path, text.replaceAll(/(from '\.\/[a-z-]+)\.ts'/g, "$1.js'"));
  }
}

if (import.meta.main) await buildClient(CLIENT);
