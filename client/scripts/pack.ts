// bun client/scripts/pack.ts FOLDER: what `npm pack` makes of the package, in that folder, and what npm says of it on
// stdout. It is built in a copy: others may be packing it, or using what they have built, at the same time.

import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildClient, CLIENT } from './build.ts';

const ROOT = join(CLIENT, '..');
const destination = resolve(process.argv[2] ?? '.');
const copy = mkdtempSync(join(tmpdir(), 'offerbook-client-'));
try {
  // Where the compiler looks from the package: the settings above it, and the types that it needs.
  cpSync(join(ROOT, 'tsconfig.json'), join(copy, 'tsconfig.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const client = join(copy, 'client');
  for (const name of [
    'LICENSE',
    'README.md',
    'package.json',
    'src',
    'tsconfig.build.json',
    'tsconfig.commonjs.json',
  ])
    cpSync(join(CLIENT, name), join(client, name), { recursive: true });
  await buildClient(client);
  const npm = ['npm', 'pack', '--ignore-scripts', '--json', '--silent', '--pack-destination', destination];
  const { exitCode } = Bun.spawnSync(npm, { cwd: client, stdout: 'inherit', stderr: 'inherit' });
  process.exitCode = exitCode;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
