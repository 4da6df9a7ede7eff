// Programs that tests need and npm does not bring. One that is missing is installed where that is possible;
// where it is not, the test fails with the command that installs it. No test is ever skipped for want of one.

import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** Where servers are, which are not for everybody's PATH. */
const SERVER_FOLDERS = '/usr/local/sbin:/usr/sbin';
/** Debian asks this program before it starts a service that has just been installed. */
const POLICY = '/usr/sbin/policy-rc.d';

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

/** The program that operators make backups of SQLite with. */
export function requireSqliteShell(): void {
  requireProgram({
    names: ['sqlite3'],
    debianPackage: 'sqlite3',
    need: 'The test of the backup needs sqlite3',
  });
}

/** Installs without starting anything: the machine may use the ports for something else. */
function runQuietly(install: readonly string[]): void {
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    Bun.spawnSync(['apt-get', 'update'], { stdout: 'ignore', stderr: 'ignore' });
    Bun.spawnSync([...install], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdout: 'ignore',
      stderr: 'inherit',
    });
  } finally {
    if (ownPolicy) rmSync(POLICY);
  }
}
