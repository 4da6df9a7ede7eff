// The image of deploy/Containerfile, built by buildah without a network and run as it is meant to be. Its base is made here,
// of the C library of this machine and nothing else: what works on that works on every base with glibc.

import { deepStrictEqual } from 'node:assert';
import { join } from 'node:path';
import { ROOT, sharedLibraries } from '../support/artefacts.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { requireProgram } from '../support/programs.ts';

const PROGRAM = '/usr/local/bin/offerbook';

interface ImageConfig {
  readonly User: string;
  readonly Volumes: Record<string, unknown>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Throws where the image cannot be built from the executable, or does not work. `executable` is below the checkout. */
export async function tryImage(executable: string): Promise<void> {
  const buildah = openBuildah();
  const base = buildah('from', 'scratch');
  for (const library of sharedLibraries(join(ROOT, executable)))
    buildah('copy', '--quiet', base, library, library);
  buildah('commit', '--quiet', base, 'localhost/base');
  const build = ['--build-arg', 'BASE=localhost/base', '--build-arg', `EXECUTABLE=${executable}`];
  // The format of Docker has health checks; that of OCI has none.
  buildah(
    'build',
    '--quiet',
    '--format',
    'docker',
    ...build,
    '--file',
    'deploy/Containerfile',
    '--tag',
    'offerbook',
    '.',
  );

  const { User, Volumes, Healthcheck } = (
    JSON.parse(buildah('inspect', '--type', 'image', 'offerbook')) as {
      Docker: { config: ImageConfig };
    }
  ).Docker.config;
  deepStrictEqual(
    { User, volumes: Object.keys(Volumes) },
    { User: '65532:65532', volumes: ['/var/lib/offerbook'] },
  );

  const container = buildah('from', 'offerbook');
  const enter = [...buildah.command, 'run', '--isolation', 'chroot', container, '--'];
  const inside = (args: readonly string[]) => offerbook(args, { command: [...enter, PROGRAM] });
  deepStrictEqual((await inside(['migrate'])).code, 0);
  await using server = await ServerProcess.start(['--workers', '2'], { command: [...enter, PROGRAM] });
  const statuses = await Promise.all(
    ['/', '/docs', '/readyz'].map(async (path) => (await fetch(server.url + path)).status),
  );
  deepStrictEqual(statuses, [200, 200, 200]);
  const [, , probe = '', address = ''] = Healthcheck.Test;
  deepStrictEqual(
    (await inside([probe, address.replace(':8080', `:${new URL(server.url).port}`)])).stdout,
    'live\n',
  );
  // buildah does not pass signals on.
  const [{ pid } = {}] = await server.logged('ready');
  process.kill(Number(pid), 'SIGTERM');
  deepStrictEqual((await server.ended()).code, 0);
}

/** With a store of its own, so that nothing of it stays on this machine. */
function openBuildah() {
  const program = requireProgram({ names: ['buildah'], tests: 'the container image', apt: 'buildah' });
  const store = temporaryFolder();
  const command = [
    program,
    ...['--root', join(store, 'root'), '--runroot', join(store, 'run'), '--storage-driver', 'vfs'],
  ];
  const run = (...args: string[]): string => {
    const { success, stdout, stderr } = Bun.spawnSync([...command, ...args], {
      cwd: ROOT,
      env: { ...process.env, BUILDAH_ISOLATION: 'chroot' },
    });
    if (!success) throw new Error(`buildah ${args.join(' ')} failed\n${stderr}`);
    return stdout.toString().trim();
  };
  return Object.assign(run, { command });
}
