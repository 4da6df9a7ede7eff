// npm run build:executable [-- TARGET…]: builds one executable per target, with Bun included, and writes the executables and
// their SHA-256 checksums to dist/. The default target is this machine's platform; `all` builds every target.

import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildConfig } from 'bun';
import { isTarget, runtimeFor, TARGETS, type Target } from './bun-runtime.ts';
import { programConfig, SERVICE } from './program.ts';

const DIST = join(SERVICE, '../dist');
const THIS_MACHINE = `${process.platform}-${process.arch}`;

/** Builds executables, writes SHA256SUMS, and returns the paths of the executables. */
export async function buildExecutables(targets: readonly Target[], folder = DIST): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const config = await programConfig(join(SERVICE, 'bin/executable.ts'));
  const paths: string[] = [];
  for (const target of targets) paths.push(await buildOne(config, target, folder));
  await writeSums(folder);
  return paths;
}

/** Builds the executable for this machine's platform and returns its path. */
export async function buildForThisMachine(folder: string): Promise<string> {
  if (!isTarget(THIS_MACHINE)) throw new Error(`no executable is built for ${THIS_MACHINE}`);
  const [path = ''] = await buildExecutables([THIS_MACHINE], folder);
  return path;
}

async function buildOne(config: BuildConfig, target: Target, folder: string): Promise<string> {
  const path = join(folder, `offerbook-${target}`);
  const executablePath = await runtimeFor(target);
  // The bundler embeds the source maps and also writes them beside the executable. Discard the copies.
  const scratch = mkdtempSync(join(tmpdir(), 'offerbook-build-'));
  try {
    const outfile = join(scratch, 'offerbook');
    await Bun.build({
      ...config,
      sourcemap: 'linked',
      bytecode: true,
      format: 'esm',
      compile: {
        target: `bun-${target}`,
        outfile,
        ...(executablePath === undefined ? {} : { executablePath }),
        // The same limit as in bin/offerbook.
        execArgv: ['--max-http-header-size=65536'],
        // Ignore files in the working directory: a bunfig.toml there could name code to run.
        autoloadBunfig: false,
        autoloadDotenv: false,
      },
    });
    await Bun.write(path, Bun.file(outfile), { mode: 0o755 });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return path;
}

/** Writes SHA256SUMS for every executable and package in the folder, in the format of `sha256sum --check`. */
export async function writeSums(folder: string): Promise<void> {
  const names = [...new Bun.Glob('offerbook-*').scanSync(folder)].sort();
  const lines = await Promise.all(
    names.map(async (name) => {
      const digest = new Bun.CryptoHasher('sha256').update(await Bun.file(join(folder, name)).bytes());
      return `${digest.digest('hex')}  ${name}\n`;
    }),
  );
  const unfinished = join(folder, 'SHA256SUMS.new');
  await Bun.write(unfinished, lines.join(''));
  renameSync(unfinished, join(folder, 'SHA256SUMS'));
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  const wanted = args.includes('all') ? TARGETS : args.length > 0 ? args : [THIS_MACHINE];
  const unknown = wanted.filter((target) => !isTarget(target));
  if (unknown.length > 0) {
    process.stderr.write(`unknown target: ${unknown.join(', ')}. Use one of: ${TARGETS.join(', ')}, all\n`);
    process.exit(2);
  }
  for (const path of await buildExecutables(wanted.filter(isTarget))) process.stdout.write(`${path}\n`);
}
