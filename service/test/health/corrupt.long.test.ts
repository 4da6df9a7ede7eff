// A corrupt SQLite file is reported as corrupt, and stays so until the server is restarted, although some statements still
// succeed.

import { expect, test } from 'bun:test';
import { closeSync, copyFileSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from '../../src/health/check.ts';
import { damagePages } from '../storage/damage-table.ts';
import { offerbook, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { freePort } from '../support/postgres-server.ts';
import { ndjson } from '../support/test-node.ts';
import { until } from '../support/until.ts';

const ROWS = 8_000;
const DAMAGED_PAGES = 60;
const CORRUPT = 'the database file is corrupt; restore a backup, then restart the server';

/** A database with many pages of transactions, and a private token. */
async function newDatabase() {
  const path = join(temporaryFolder(), 'offerbook.db');
  const env = { OFFERBOOK_DATABASE_URL: `sqlite:${path}` };
  const run = (args: readonly string[], stdin = '') => offerbook(args, { env, stdin });
  await run(['orgs', 'create', 'acme']);
  const rows = Array.from({ length: ROWS }, (_, i) => transaction(i + 1));
  expect((await run(['import', 'transactions', '-', '--org', 'acme'], ndjson(rows))).code).toBe(0);
  const issued = await run(['tokens', 'issue', '--org', 'acme', '--kind', 'private', '--json']);
  const { token } = JSON.parse(issued.stdout) as { token: string };
  const doctor = async (...args: string[]) => {
    const { code, stdout } = await run(['doctor', '--json', ...args]);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    return { code, of: (name: string) => checks.find(({ check }) => check === name) };
  };
  return { path, env, token, doctor };
}

/** Pages that contain transactions, evenly distributed over the table. */
const DAMAGED_SQL = `
  SELECT pageno FROM (
    SELECT pageno, row_number() OVER (ORDER BY path) AS place, count(*) OVER () AS pages
      FROM dbstat WHERE name = 'transactions' AND pagetype = 'leaf'
  ) WHERE place % (pages / ${DAMAGED_PAGES}) = 0 LIMIT ${DAMAGED_PAGES}`;

async function serve(env: Record<string, string>, workers: number) {
  const adminPort = await freePort();
  const server = await ServerProcess.start(
    ['--admin-port', String(adminPort), '--workers', String(workers)],
    { env },
  );
  const admin = async (path: string) => (await fetch(`http://127.0.0.1:${adminPort}${path}`)).text();
  return {
    server,
    admin,
    readyz: async () => (await fetch(`${server.url}/readyz`)).json(),
    gauges: async () =>
      [
        ...(await admin('/metrics')).matchAll(/^offerbook_(database_\w+|check\{check="database"\}) (\d)$/gm),
      ].map(([, name, value]) => `${name} ${value}`),
  };
}

test.each([1, 2])(
  'with %p workers, a file with 60 damaged pages is reported as corrupt by every monitor until a restart after a restore',
  async (workers) => {
    const { path, env, token, doctor } = await newDatabase();
    copyFileSync(path, `${path}.intact`);
    damagePages(path, DAMAGED_SQL);
    const { server, admin, readyz, gauges } = await serve(env, workers);
    expect(await gauges()).toEqual(['database_usable 1', 'database_corrupt 0', 'check{check="database"} 0']);
    const headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
    const page = async () => {
      const response = await fetch(`${server.url}/v1/transactions/?limit=1000`, { headers });
      await response.text();
      return response.status;
    };
    expect(await page()).toBe(503);
    const broken = ['database_usable 0', 'database_corrupt 1', 'check{check="database"} 2'];
    await until(gauges, (found) => Bun.deepEquals(found, broken));
    // Other pages are intact, and the node polls for changes: neither counts as a recovery.
    for (let i = 0; i < 20; i++) {
      await fetch(`${server.url}/v1/transactions/?updatedAtLessThan=2000-01-01T00:00:00`, { headers });
      expect([await page(), await gauges()]).toEqual([503, broken]);
    }
    await until(readyz, (body) => (body as { database: string }).database === 'corrupt');
    expect(await admin('/readyz')).toContain('"database":"corrupt"');
    expect(await admin('/')).toContain('<bdi>corrupt: database disk image is malformed</bdi>');
    const messages = server.logLines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.filter((msg) => /unreachable|recovered/.test(msg))).toEqual([]);
    expect(messages.filter((msg) => msg === CORRUPT).length).toBeLessThanOrEqual(workers + 1);

    const running = await doctor('--port', new URL(server.url).port);
    expect([running.code, running.of('database')]).toEqual([
      1,
      {
        check: 'database',
        state: 'fault',
        found: `corrupt: reported by the server at ${server.url}`,
        advice: expect.stringContaining('restore the latest backup'),
      },
    ]);
    await server.stop();
    const port = String(await freePort());
    const deep = await doctor('--port', port, '--deep');
    expect([deep.code, deep.of('integrity')?.state]).toEqual([1, 'fault']);
    expect(deep.of('integrity')?.found.split('; ').length).toBeLessThanOrEqual(10);

    copyFileSync(`${path}.intact`, path);
    const again = await serve(env, workers);
    expect(await again.gauges()).toEqual([
      'database_usable 1',
      'database_corrupt 0',
      'check{check="database"} 0',
    ]);
    await again.server.stop();
    expect((await doctor('--port', port, '--deep')).of('integrity')).toEqual({
      check: 'integrity',
      state: 'ok',
      found: 'every page was read',
    });
  },
);

test('a running server whose file no longer is an SQLite file reports it as corrupt', async () => {
  const { path, env } = await newDatabase();
  const { server, readyz } = await serve(env, 1);
  const handle = openSync(path, 'r+');
  writeSync(handle, new Uint8Array(statSync(path).size).fill(0x5a), 0, statSync(path).size, 0);
  closeSync(handle);
  // A commit of another process makes the server read the file again; the next request opens a new connection.
  await until(
    async () => {
      await fetch(`${server.url}/v1/transactions/`, { headers: { Authorization: 'Bearer ob_prv_none' } });
      return readyz();
    },
    (body) => (body as { database: string }).database === 'corrupt',
  );
  await server.stop('SIGKILL');
});
