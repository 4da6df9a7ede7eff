// Starts the servers that Offerbook is compared with, and finds the programs that are not on npm. The peers' packages are not
// dependencies of the project: the first benchmark that needs them installs them into bench/peers.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startServer } from './server.ts';

const FOLDER = join(import.meta.dir, 'peers');
const BUN = process.execPath;

/** Returns the path of a program. */
export function findTool(name: string): string {
  const found = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
  if (found === null) throw new Error(`${name} is missing; install it, for example: apt-get install ${name}`);
  return found;
}

export async function installPeers(): Promise<void> {
  if (existsSync(join(FOLDER, 'node_modules', 'hono'))) return;
  process.stderr.write('Installing the peers into bench/peers …\n');
  await Bun.$`npm ci --no-audit --no-fund`.cwd(FOLDER).quiet();
}

export function startPlain(folder: string, database: string, token: string) {
  return startServer({
    command: (port) => [BUN, join(FOLDER, 'plain.ts'), database, String(port)],
    readyPath: '/v1/cashback-offers/',
    headers: { Authorization: `Bearer ${token}` },
    log: join(folder, 'plain.log'),
  });
}

export function startBare(
  folder: string,
  what: 'body' | 'unchanged' | 'transactions' | 'redirect',
  path: string,
) {
  return startServer({
    command: (port) => [BUN, join(FOLDER, 'bare.ts'), what, path, String(port)],
    readyPath: '/?cursor=0',
    log: join(folder, 'bare.log'),
  });
}

/** Serves precompressed bodies by path with one worker. */
export function startNginx(
  folder: string,
  files: Readonly<Record<string, { readonly plain: Uint8Array; readonly gzip: Uint8Array }>>,
) {
  const nginx = findTool('nginx');
  const root = join(folder, 'www');
  for (const [path, { plain, gzip }] of Object.entries(files)) {
    const file = join(root, path, 'index.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, plain);
    writeFileSync(`${file}.gz`, gzip);
  }
  // If started by root, nginx runs its worker as another user.
  chmodSync(folder, 0o755);
  const configuration = join(folder, 'nginx.conf');
  return startServer({
    command(port) {
      writeFileSync(configuration, configureNginx(folder, root, port));
      return [nginx, '-c', configuration];
    },
    readyPath: Object.keys(files)[0] ?? '/',
    log: join(folder, 'nginx.log'),
  });
}

/** All optimisations are on. The log is off, although Offerbook's is on. */
function configureNginx(folder: string, root: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    worker_processes 1;
    pid ${folder}/nginx.pid;
    error_log ${folder}/nginx.log;
    events { worker_connections 1024; }
    http {
      access_log off;
      sendfile on;
      tcp_nopush on;
      keepalive_requests 1000000000;
      open_file_cache max=100;
      types { application/json json; }
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      server {
        listen 127.0.0.1:${port};
        root ${root};
        index index.json;
        gzip_static on;
      }
    }`;
}
