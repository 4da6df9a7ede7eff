// Builds the image of deploy/Containerfile with buildah, without a network, and runs it. The base image contains only this
// machine's C library, so an image that works on it works on every base with glibc.

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

/**
 * Throws if the image cannot be built from the executable or does not work. `executable` is a path relative to the checkout.
 */
export async function tryImage(executable: string): Promise<void> {
  const buildah = openBuildah();
  const base = buildah('from', 'scratch');
  for (const library of sharedLibraries(join(ROOT, executable)))
    buildah('copy', '--quiet', base, library, library);
  buildah('commit', '--quiet', base, 'localhost/base');
  const build = ['--build-arg', 'BASE=localhost/base', '--build-arg', `EXECUTABLE=${executable}`];
  // Docker's image format has health checks; OCI's does not.
  const format = ['--format', 'docker', '--file', 'deploy/Containerfile', '--tag', 'offerbook'];
  buildah('build', '--quiet', ...format, ...build, '.');

  const inspected: { Docker: { config: ImageConfig } } = JSON.parse(
    buildah('inspect', '--type', 'image', 'offerbook'),
  );
  const { User, Volumes, Healthcheck } = inspected.Docker.config;
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
  // buildah does not forward signals, so signal the server itself.
  const [{ pid } = {}] = await server.logged('ready');
  process.kill(Number(pid), 'SIGTERM');
  deepStrictEqual((await server.ended()).code, 0);
}

/** Uses a temporary store, so that no image remains on this machine. */
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
