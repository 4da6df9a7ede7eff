// bun client/scripts/pack.ts FOLDER: runs `npm pack` into the folder and prints npm's report. It builds in a copy, because
// another process may be packing or using the package at the same time.

import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildClient, CLIENT } from './build.ts';

const ROOT = join(CLIENT, '..');
const destination = resolve(process.argv[2] ?? '.');
const copy = mkdtempSync(join(tmpdir(), 'offerbook-client-'));
try {
  // The compiler looks for its settings and types in the parent folder.
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
