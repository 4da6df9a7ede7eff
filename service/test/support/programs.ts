// Programs that tests need and npm does not bring. One that is missing is installed where that is possible;
// where it is not, the test fails with the command that installs it. No test is ever skipped for want of one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where servers are, which are not for everybody's PATH. */
const SERVER_FOLDERS = '/usr/local/sbin:/usr/sbin';
/** Where packages look for programs while they are installed. Ours come first: services are not started. */
const INSTALL_PATH = `${join(import.meta.dir, 'no-services')}:/usr/sbin:/usr/bin:/sbin:/bin`;

export interface Program {
  readonly names: readonly string[];
  readonly debianPackage: string;
  /** What it is for, as in "The browser tests need Chromium". */
  readonly need: string;
}

export function findProgram({ names }: Program): string | undefined {
  const PATH = `${process.env.PATH}:${SERVER_FOLDERS}`;
  return names.map((name) => Bun.which(name, { PATH })).find((path) => path !== null) ?? undefined;
}

export function requireProgram(program: Program): string {
  const found = findProgram(program);
  if (found !== undefined) return found;
  const install = ['apt-get', 'install', '--yes', '--no-install-recommends', program.debianPackage];
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) runQuietly(install);
  const installed = findProgram(program);
  if (installed === undefined) {
    throw new Error(`${program.need}. Install it with: sudo ${install.join(' ')}`);
  }
  return installed;
}

/** The shells that the command completes words for, and what sets its manual page. */
export function requireShells(): void {
  for (const [name, debianPackage] of [
    ['bash', 'bash'],
    ['zsh', 'zsh'],
    ['fish', 'fish'],
    ['groff', 'groff-base'],
  ] as const) {
    requireProgram({
      names: [name],
      debianPackage,
      need: `The tests of completions and the manual need ${name}`,
    });
  }
}

/** The program that checks and tests the rules of Prometheus. */
export function requirePromtool(): string {
  return requireProgram({
    names: ['promtool'],
    debianPackage: 'prometheus',
    need: 'The tests of the alerts need promtool',
  });
}

/** The pool that operators put before PostgreSQL. */
export function requirePgBouncer(): string {
  return requireProgram({
    names: ['pgbouncer'],
    debianPackage: 'pgbouncer',
    need: 'The tests of connections through a pool need PgBouncer',
  });
}

let knowsPackages = false;

/**
 * Starts no service: the machine may use the ports for something else. Writes nothing that would have to be taken back,
 * and goes on in a session of its own if we are stopped: half of an installation would have to be mended by hand.
 */
function runQuietly(install: readonly string[]): void {
  // Once for all programs of a run: it takes seconds.
  if (!knowsPackages) Bun.spawnSync(['apt-get', 'update'], { stdout: 'ignore', stderr: 'ignore' });
  knowsPackages = true;
  Bun.spawnSync(['setsid', '--wait', ...install, '-o', `DPkg::Path=${INSTALL_PATH}`], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdout: 'ignore',
    stderr: 'inherit',
  });
}
