// The programs of a Patroni cluster, from Debian's packages. They do not run as root, which Patroni and PostgreSQL reject, and
// they end with this process.

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAMS, type Program, requireProgram } from '../../../support/programs.ts';

export const POSTGRES_BIN = '/usr/lib/postgresql/15/bin';

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

/** Starts a program as the user postgres and returns its pid; its output goes to NAME.log in the folder. */
export function startDaemon(name: string, command: readonly string[], folder: string): number {
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
  return pid;
}
