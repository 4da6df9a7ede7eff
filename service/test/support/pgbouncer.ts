// A real PgBouncer in front of the test PostgreSQL, with the settings recommended in docs/operations/databases.md.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './databases.ts';
import { freePort, PASSWORD, postgresUrl, USER } from './postgres-server.ts';
import { PROGRAMS, startProgram } from './programs.ts';

const DOCUMENT = join(import.meta.dir, '..', '..', '..', 'docs', 'operations', 'databases.md');

export type PgBouncer = Awaited<ReturnType<typeof startPgBouncer>>;

/** Starts PgBouncer in front of this database, with some of the recommended settings replaced. */
export async function startPgBouncer(
  databaseUrl: string,
  replaced: Readonly<Record<string, string | undefined>> = {},
) {
  const { port: serverPort, pathname } = new URL(databaseUrl);
  const folder = temporaryFolder();
  const [port, users, file] = [await freePort(), join(folder, 'users'), join(folder, 'pgbouncer.ini')];
  const settings = {
    ...recommended(),
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '' },
    ...{ auth_type: 'plain', auth_file: users },
    ...replaced,
  };
  const lines = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} = ${value}`],
  );
  const server = `* = host=127.0.0.1 port=${serverPort}`;
  writeFileSync(users, `"${USER}" "${PASSWORD}"\n`);
  writeFileSync(file, `[databases]\n${server}\n[pgbouncer]\n${lines.join('\n')}\n`);
  // PgBouncer refuses to run as root.
  for (const path of [folder, users, file]) chmodSync(path, 0o755);
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = await startProgram(PROGRAMS.pgbouncer, ['--quiet', ...user, file], async () => {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } });
    socket.end();
    return true;
  });
  return {
    url: postgresUrl(port, pathname.slice(1)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** The settings in the [pgbouncer] section of the document. */
function recommended(): Record<string, string> {
  const [, section = ''] = /```ini\n\[pgbouncer\]\n(.*?)```/s.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  const pairs = [...section.matchAll(/^(\w+) = (.*)$/gm)].map(([, name = '', value = '']) => [name, value]);
  if (pairs.length === 0) throw new Error('docs/operations/databases.md has no settings of PgBouncer');
  return Object.fromEntries(pairs) as Record<string, string>;
}
