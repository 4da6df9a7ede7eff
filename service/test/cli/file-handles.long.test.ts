// A server whose clients have used up its file handles: commits still take effect, at the latest when a handle is
// available again.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { NARROW_MAX } from '../../src/storage/transactions/transaction-page.ts';
import { getRequest, HttpConnection } from '../chaos/traffic/http-connection.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';
import { offer, retailer, transaction } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

const OPEN_FILES_MAX = 120;
const CONNECTIONS = 140;

describe.each(DATABASES)('when file handles are exhausted, on $name', ({ create }) => {
  let env: Record<string, string>;
  let server: ServerProcess;
  let token: { id: string; token: string };
  let metrics: () => Promise<string>;
  let held: HttpConnection[];

  beforeEach(async () => {
    env = { OFFERBOOK_DATABASE_URL: await create() };
    await offerbook(['orgs', 'create', 'acme'], { env });
    const issue = ['tokens', 'issue', '--org', 'acme', '--kind', 'public', '--json'];
    token = JSON.parse((await offerbook(issue, { env })).stdout);
    await importCatalogue(1);
    const adminPort = String(await freePort());
    server = await ServerProcess.start(['--admin-port', adminPort], { env, openFilesMax: OPEN_FILES_MAX });
    metrics = async () => (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    held = [];
  });

  afterEach(async () => {
    releaseHandles();
    await server.stop('SIGKILL');
  });

  async function importCatalogue(retailers: number): Promise<void> {
    const rows = Array.from({ length: retailers }, (_, i) =>
      retailer(i + 1, { cashbackOffers: [offer(i + 11)] }),
    );
    const { code } = await offerbook(['import', 'catalogue', '-'], { env, stdin: ndjson(rows) });
    expect(code).toBe(0);
  }

  async function useUpHandles(): Promise<HttpConnection> {
    const first = await HttpConnection.open(server.url);
    held.push(first);
    expect(await first.request(getRequest('/v1/retailers/', token.token))).toBe(200);
    while (held.length < CONNECTIONS) held.push(await HttpConnection.open(server.url));
    await until(openFiles, (count) => count >= OPEN_FILES_MAX);
    return first;
  }

  const openFiles = () => readdirSync(`/proc/${server.pid}/fd`).length;

  function releaseHandles(): void {
    for (const connection of held.splice(0)) connection.close();
  }

  const logged = (message: string) => server.logLines.some((line) => JSON.parse(line).msg === message);

  const untilUsable = () => until(metrics, (page) => page.includes('\nofferbook_database_usable 1\n'));

  test('a revoked token is rejected while file handles are exhausted', async () => {
    const kept = await useUpHandles();
    expect((await offerbook(['tokens', 'revoke', token.id], { env })).code).toBe(0);
    await until(
      () => kept.request(getRequest('/v1/retailers/', token.token)),
      (status) => status === 401,
    );
    expect(openFiles()).toBeGreaterThanOrEqual(OPEN_FILES_MAX);
  });

  test('a page of transactions gets 503, and 200 once file handles are available again', async () => {
    // More than a narrow window has, so that reading the page takes several statements and a connection of its own.
    const rows = Array.from({ length: NARROW_MAX + 1 }, (_, i) => transaction(i + 1));
    const importArgs = ['import', 'transactions', '-', '--org', 'acme'];
    expect((await offerbook(importArgs, { env, stdin: ndjson(rows) })).code).toBe(0);
    const issued = await offerbook(['tokens', 'issue', '--org', 'acme', '--kind', 'private'], { env });
    const request = getRequest(
      '/v1/transactions/?updatedAtGreaterThan=2026-01-01T00:00:00',
      issued.stdout.trim(),
    );
    const kept = await useUpHandles();
    expect(await kept.request(request)).toBe(503);
    releaseHandles();
    const next = await HttpConnection.open(server.url);
    await until(
      () => next.request(request),
      (status) => status === 200,
    );
    next.close();
    await untilUsable();
  });

  test('a failed catalogue reload is retried once file handles are available again', async () => {
    await useUpHandles();
    await importCatalogue(2);
    // If no new connection is needed, the reload succeeds immediately.
    const failed = () => logged('the database is unreachable; serving from memory');
    await until(() => failed() || logged('catalogue reloaded'));
    releaseHandles();
    await until(() => logged('catalogue reloaded'));
    await untilUsable();
  });
});
