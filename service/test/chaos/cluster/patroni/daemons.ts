// The programs of a Patroni cluster, from Debian's packages. They do not run as root, which Patroni and PostgreSQL reject, and
// they end with this process.

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../../../support/postgres-processes.ts';
import { PROGRAMS, type Program, requireProgram } from '../../../support/programs.ts';

export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';
const EXIT_TIMEOUT_MS = 10_000;

/** Paths of the programs; installs them on first use. */
export function patroniPrograms() {
  found ??= findPrograms();
  return found;
}

let found: ReturnType<typeof findPrograms> | undefined;

function findPrograms() {
  const require = (name: string, apt: string) =>
    requireProgram({ names: [name], tests: 'failover', apt } satisfies Program);
  // Install this before Patroni, which would otherwise install the current version of PostgreSQL.
  require(join(POSTGRES_BIN, 'postgres'), 'postgresql-15');
  return {
    setpriv: require('setpriv', 'util-linux'),
    etcd: require('etcd', 'etcd-server'),
    patroni: require('patroni', 'patroni'),
    patronictl: require('patronictl', 'patroni'),
    haproxy: requireProgram(PROGRAMS.haproxy),
  };
}

export interface Daemon {
  readonly pid: number;
}

/** Starts a program as the user postgres; its output goes to NAME.log in the folder. */
export function startDaemon(name: string, command: readonly string[], folder: string): Daemon {
  const log = openSync(join(folder, `${name}.log`), 'a');
  // The kernel kills the program if this process is killed. PostgreSQL leaves Patroni's session and keeps running.
  const user = process.getuid?.() === 0 ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  const { pid } = Bun.spawn([patroniPrograms().setpriv, ...user, '--pdeathsig=KILL', '--', ...command], {
    cwd: folder,
    stdio: ['ignore', log, log],
    // On arm64, etcd starts only with this setting.
    env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', ETCD_UNSUPPORTED_ARCH: 'arm64' },
  });
  closeSync(log);
  return { pid };
}

export async function untilExited(pids: readonly number[]): Promise<void> {
  const giveUpMs = performance.now() + EXIT_TIMEOUT_MS;
  while (pids.some(isRunning)) {
    if (performance.now() > giveUpMs) throw new Error(`processes ${pids.filter(isRunning)} do not exit`);
    await Bun.sleep(5);
  }
}
