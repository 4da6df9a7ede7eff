// Three server processes on one PostgreSQL database behind a round-robin proxy; imports and tokens come from a fourth
// process.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allowedMs } from '../support/allowed-ms.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { offer, retailer, transaction } from '../support/fixtures.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';

const NODES = 3;
const TRANSACTIONS = 250;

let env: Record<string, string>;
let nodes: ServerProcess[];
let proxy: Bun.Server<undefined>;
/** The node that answered each request. */
let answeredBy: number[];

beforeAll(async () => {
  env = { OFFERBOOK_DATABASE_URL: await newPostgresSchema() };
  await run('orgs', 'create', 'acme');
  nodes = await Promise.all(Array.from({ length: NODES }, () => ServerProcess.start([], { env })));
  answeredBy = [];
  proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const node = answeredBy.length % NODES;
      answeredBy.push(node);
      const { pathname, search } = new URL(request.url);
      // Uncompressed, because fetch would decompress the body and it would no longer match its headers.
      const headers = {
        Authorization: request.headers.get('Authorization') ?? '',
        'Accept-Encoding': 'identity',
      };
      return fetch(`${nodes[node]?.url}${pathname}${search}`, { headers });
    },
  });
});

afterAll(async () => {
  await proxy.stop(true);
  for (const node of nodes) await node.stop('SIGKILL');
});

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await offerbook(args, { env });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

async function importRows(rows: readonly unknown[], ...args: string[]): Promise<void> {
  const { code, stderr } = await offerbook(['import', ...args, '-'], { env, stdin: ndjson(rows) });
  if (code !== 0) throw new Error(stderr);
}

const get = (url: string, token: string) => fetch(url, { headers: { Authorization: `Bearer ${token}` } });

/** Time until every node returns the expected response. */
async function untilEverywhere(path: string, token: string, isSo: (response: Response) => Promise<boolean>) {
  const startedMs = performance.now();
  for (const { url } of nodes) {
    while (!(await isSo(await get(url + path, token)))) await Bun.sleep(10);
  }
  return performance.now() - startedMs;
}

test('every node serves a catalogue import within a second', async () => {
  const token = (await run('tokens', 'issue', '--org', 'acme', '--kind', 'public')).trim();
  for (const count of [2, 5]) {
    const rows = Array.from({ length: count }, (_, i) => retailer(i + 1, { cashbackOffers: [offer(i + 1)] }));
    await importRows(rows, 'catalogue');
    const hasAll = async (response: Response) =>
      ((await response.json()) as { data: unknown[] }).data.length === count;
    expect(await untilEverywhere('/v1/retailers/', token, hasAll)).toBeLessThan(allowedMs(1_000));
  }
});

test('every node accepts a token as soon as it is issued, and rejects it within two seconds of its revocation or expiry', async () => {
  const issued = JSON.parse(await run('tokens', 'issue', '--org', 'acme', '--kind', 'private', '--json')) as {
    id: string;
    token: string;
  };
  const statuses = await Promise.all(
    nodes.map(async ({ url }) => (await get(`${url}/v1/transactions/`, issued.token)).status),
  );
  expect(statuses).toEqual([200, 200, 200]);
  await run('tokens', 'revoke', issued.id);
  const isRefused = async ({ status }: Response) => status === 401;
  expect(await untilEverywhere('/v1/transactions/', issued.token, isRefused)).toBeLessThan(allowedMs(2_000));
});

test('a walk across several nodes is complete, and the first request after an import sees its rows', async () => {
  const token = (await run('tokens', 'issue', '--org', 'acme', '--kind', 'private')).trim();
  const rows = Array.from({ length: TRANSACTIONS }, (_, i) => transaction(i + 1));
  const changed = rows.map((row) => ({ ...row, status: 'CONFIRMED' as const }));
  for (const imported of [rows, changed]) {
    await importRows(imported, 'transactions', '--org', 'acme');
    answeredBy = [];
    const seen: { id: string; status: string }[] = [];
    let url: string | undefined = `${proxy.url}v1/transactions/?limit=30`;
    while (url !== undefined) {
      const response: Response = await get(url, token);
      const page = (await response.json()) as { data: typeof seen; cursor?: string };
      seen.push(...page.data);
      url = page.cursor && `${proxy.url}v1/transactions/?limit=30&cursor=${page.cursor}`;
    }
    expect(seen.map(({ id, status }) => [id, status])).toEqual(
      imported.map(({ id, status }) => [id, status]),
    );
    expect(new Set(answeredBy).size).toBe(NODES);
  }
});
