// Checks that apply to every artefact: creates a database, imports data, and serves pages, lists and the console with workers.
// Throws if a check fails.

import { deepStrictEqual } from 'node:assert';
import { join } from 'node:path';
import { GUIDE_PATHS } from '@offerbook/site/docs/guides/guides.ts';
import { BUNDLE_PATHS, bundle } from '../../src/http/pages/embedded.ts';
import { ROOT } from '../support/artefacts.ts';
import { offerbook, type RunOptions, ServerProcess } from '../support/command.ts';
import { freePort } from '../support/postgres-server.ts';

/** True for bundles that the admin port serves. */
const isOfConsole = (path: string) => path.startsWith('/assets/console.');
const CONSOLE_PAGES = ['/', '/imports', '/totals', '/metrics', '/readyz'];
const PAGES = [
  '/',
  '/docs',
  ...GUIDE_PATHS,
  '/docs/search.json',
  '/errors/',
  '/openapi.json',
  '/favicon.svg',
];

/** `data` is the path of examples/data as the command sees it. */
export async function smoke(options: RunOptions, data = join(ROOT, 'examples/data')): Promise<void> {
  await run(['orgs', 'create', 'acme'], options);
  await run(['import', 'catalogue', join(data, 'catalogue.ndjson')], options);
  await run(['import', 'transactions', join(data, 'transactions.csv'), '--org', 'acme'], options);
  const token = (await run(['tokens', 'issue', '--org', 'acme', '--kind', 'private'], options)).trim();
  const adminPort = String(await freePort());
  await using server = await ServerProcess.start(['--workers', '2', '--admin-port', adminPort], options);
  const fetchFrom = (path: string, headers = {}) => fetch(server.url + path, { headers });
  const fetchConsole = (path: string) => fetch(`http://127.0.0.1:${adminPort}${path}`);

  const asked = [
    ...[...PAGES, '/client/offerbook-client.tgz'].map((path) => fetchFrom(path)),
    ...CONSOLE_PAGES.map(fetchConsole),
  ];
  const refused = (await Promise.all(asked)).filter(({ status }) => status !== 200);
  deepStrictEqual(
    refused.map(({ url, status }) => [url, status]),
    [],
  );
  for (const path of BUNDLE_PATHS) {
    const served = await (isOfConsole(path) ? fetchConsole(path) : fetchFrom(path));
    deepStrictEqual(await served.text(), await bundle(path));
  }
  const [, commit = 'unknown'] = /\(commit (.*)\)/.exec(await run(['--version'], options)) ?? [];
  const metrics = await (await fetchConsole('/metrics')).text();
  deepStrictEqual(/^offerbook_build_info\{.*commit="(.*?)"/m.exec(metrics)?.[1], commit);
  const page = await fetchFrom('/v1/transactions/', { Authorization: `Bearer ${token}` });
  deepStrictEqual(((await page.json()) as { data: unknown[] }).data.length, 2);
  // Offerbook itself rejects a URL that is too long, because Bun is configured to accept longer ones.
  deepStrictEqual((await fetchFrom(`/?${'x'.repeat(20_000)}`)).status, 414);
  deepStrictEqual(await server.stop(), 0);
}

/** Runs a command and returns its output; throws if the command fails. */
export async function run(args: readonly string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await offerbook(args, options);
  deepStrictEqual({ code, stderr: code === 0 ? '' : stderr }, { code: 0, stderr: '' });
  return stdout;
}
