// Starts nginx with one worker and precompressed files, as the upper bound.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Server } from './server.ts';
import { findTool } from './tool.ts';

/** Serves bodies by path. Returns undefined if nginx is not installed. */
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
      writeFileSync(configuration, configure(folder, root, port));
      return [nginx, '-c', configuration];
    },
    readyPath: Object.keys(files)[0] ?? '/',
    log: join(folder, 'nginx.log'),
  });
}

/** All optimisations are on. The log is off, although Offerbook's is on. */
function configure(folder: string, root: string, port: number): string {
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
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      server {
        listen 127.0.0.1:${port};
        root ${root};
        index index.json;
        gzip_static on;
      }
    }`;
}
