// Fetches the Bun binary for another platform from the npm registry and verifies it against package-lock.json. Without this
// step, the bundler would download an unverified binary from elsewhere.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE } from './program.ts';

const ROOT = join(SERVICE, '..');

/** The npm package that contains Bun, for each target. */
const PACKAGES = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'darwin-x64': '@oven/bun-darwin-x64',
  'darwin-arm64': '@oven/bun-darwin-aarch64',
} as const;

export type Target = keyof typeof PACKAGES;
export const TARGETS = Object.keys(PACKAGES) as Target[];

export function isTarget(text: string): text is Target {
  return Object.hasOwn(PACKAGES, text);
}

/** Returns the path of the target's Bun binary; undefined for this machine's platform, which needs no download. */
export async function runtimeFor(target: Target): Promise<string | undefined> {
  if (target === `${process.platform}-${process.arch}`) return undefined;
  const name = PACKAGES[target];
  const { version, integrity } = readLocked(name);
  const folder = join(ROOT, '.cache/bun', `${target}-${version}`);
  const path = join(folder, 'package/bin/bun');
  if (!existsSync(path)) await fetchRuntime(`${name}@${version}`, integrity, folder);
  return path;
}

function readLocked(name: string): { readonly version: string; readonly integrity: string } {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return lock.packages[`node_modules/${name}`];
}

/** Downloads a package, verifies its digest and unpacks it. The folder appears only when it is complete. */
export async function fetchRuntime(wanted: string, integrity: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const [{ filename }] = JSON.parse(run(['npm', 'pack', '--json', '--silent', wanted], unfinished));
    const tarball = join(unfinished, filename);
    const bytes = await Bun.file(tarball).bytes();
    const digest = new Bun.CryptoHasher('sha512').update(bytes).digest('base64');
    if (`sha512-${digest}` !== integrity)
      throw new Error(`${wanted} does not match its digest in package-lock.json`);
    await new Bun.Archive(bytes).extract(unfinished);
    rmSync(tarball);
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function run(command: string[], cwd: string): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd });
  if (!success) throw new Error(`${command.join(' ')} failed: ${stderr.toString().trim()}`);
  return stdout.toString();
}
