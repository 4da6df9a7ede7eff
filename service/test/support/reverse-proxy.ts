// A real nginx or HAProxy in front of the service, with the configuration recommended in docs/operations/proxies.md. Only
// addresses and settings that a test run needs are replaced.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './postgres-server.ts';
import { PROGRAMS, startProgram } from './programs.ts';

export const PROXIES = ['nginx', 'haproxy'] as const;
export type ProxyName = (typeof PROXIES)[number];

const DOCUMENT = join(import.meta.dir, '..', '..', '..', 'docs', 'operations', 'proxies.md');
const NODES = ['10.0.0.11:8080', '10.0.0.12:8080'];

interface ProxyOptions {
  /** True to enable proxy_cache in nginx without further cache settings. */
  readonly keepsAnswers?: boolean;
  /** Read timeout, instead of the 15 seconds that the document recommends. */
  readonly readTimeoutSeconds?: number;
}

export type ReverseProxy = Awaited<ReturnType<typeof startProxy>>;

/** Starts a proxy in front of one or two nodes and waits until requests reach a node. */
export async function startProxy(name: ProxyName, nodeUrls: readonly string[], options: ProxyOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), `offerbook-${name}-`));
  const port = await freePort();
  const file = join(folder, 'configuration');
  writeFileSync(file, configuration(name, port, nodeUrls, folder, options));
  const inForeground = `daemon off; pid ${folder}/pid; user root;`;
  const args = {
    nginx: ['-p', folder, '-c', file, '-e', 'stderr', '-g', inForeground],
    haproxy: ['-db', '-f', file],
  };
  const url = `http://127.0.0.1:${port}`;
  const isUp = async () => (await fetch(`${url}/readyz`)).ok;
  const child = await startProgram(PROGRAMS[name], args[name], isUp);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(
  name: ProxyName,
  port: number,
  nodeUrls: readonly string[],
  folder: string,
  { keepsAnswers = false, readTimeoutSeconds = 15 }: ProxyOptions,
): string {
  const [, recommended = ''] =
    new RegExp(`\\n\`\`\`${name}\\n(.*?)\\n\`\`\`\\n`, 's').exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
  if (recommended === '') throw new Error(`docs/operations/proxies.md has no configuration of ${name}`);
  const lines = recommended.split('\n').flatMap((line) => {
    const node = NODES.findIndex((address) => line.includes(address));
    if (node < 0) return [line];
    const url = nodeUrls[node];
    return url === undefined ? [] : [line.replace(NODES[node] ?? '', new URL(url).host)];
  });
  const text = lines
    .join('\n')
    .replace(/(proxy_read_timeout|timeout server) 15s/, `$1 ${readTimeoutSeconds}s`);
  if (name === 'haproxy') return `${text.replace('bind :80', `bind 127.0.0.1:${port}`)}\n`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const kept = keepsAnswers
    ? [`proxy_cache_path ${folder}/kept keys_zone=kept:1m;`, 'proxy_cache kept;']
    : [];
  return text
    .replace('listen 80', `listen 127.0.0.1:${port}`)
    .replace('http {', `http {\n  access_log off;\n  ${[...temporary, ...kept].join('\n  ')}`);
}
