// Starts the servers that Offerbook is compared with, and finds the programs that are not on npm. The peers' packages are not
// dependencies of the project: the first benchmark that needs them installs them into bench/peers.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Server } from './server.ts';

const FOLDER = join(import.meta.dir, 'peers');
const BUN = process.execPath;
const NOT_INSTALLABLE = new Set<string>();

/** Returns the path of a program, which it installs with apt-get if possible. */
export async function findTool(name: string): Promise<string | undefined> {
  const found = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
  if (found !== null) return found;
  if (NOT_INSTALLABLE.has(name) || process.getuid?.() !== 0 || Bun.which('apt-get') === null)
    return undefined;
  process.stderr.write(`Installing ${name} …\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', name];
  const { exitCode } = await Bun.$`${install}`.env(env).nothrow().quiet();
  if (exitCode === 0) return findTool(name);
  NOT_INSTALLABLE.add(name);
  return undefined;
}

export async function installPeers(): Promise<void> {
  if (existsSync(join(FOLDER, 'node_modules', 'hono'))) return;
  process.stderr.write('Installing the peers into bench/peers …\n');
  await Bun.$`npm ci --no-audit --no-fund`.cwd(FOLDER).quiet();
}

export function startPlain(folder: string, database: string, token: string): Promise<Server> {
  return Server.start({
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
): Promise<Server> {
  return Server.start({
    command: (port) => [BUN, join(FOLDER, 'bare.ts'), what, path, String(port)],
    readyPath: '/?cursor=0',
    log: join(folder, 'bare.log'),
  });
}

/** Serves precompressed bodies by path with one worker. Returns undefined if nginx is not installed. */
export async function startNginx(
  folder: string,
  files: Readonly<Record<string, { readonly plain: Uint8Array; readonly gzip: Uint8Array }>>,
): Promise<Server | undefined> {
  const nginx = await findTool('nginx');
  if (nginx === undefined) return undefined;
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
  return Server.start({
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
