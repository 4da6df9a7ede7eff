// offerbook pull as operators run it: source files, credentials, exit codes and output.

import { expect, onTestFinished, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleSource, secretVariables } from '@offerbook/sandbox/networks/accounts.ts';
import { FakeNetworks } from '@offerbook/sandbox/networks/fake-networks.ts';
import { awinSale, NAMESPACE, type Row } from '../../../feeds/test/fixture.ts';
import { FakeNetwork, PULL_SECRETS } from '../pull/fake-network.ts';
import { commandLine, spawnOfferbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { localServer } from '../support/local-server.ts';
import { until } from '../support/until.ts';

const SECRET = PULL_SECRETS.awin?.token ?? '';
const text = (ms: number) => new Date(ms).toISOString().slice(0, 19);

async function operator(network: FakeNetwork, changes: Row = {}) {
  const folder = temporaryFolder();
  const source = {
    ...{ network: 'awin', account: '77777', namespace: NAMESPACE, share: { default: 0.5 }, subId: 'uid' },
    ...{ baseUrl: network.url, credentials: { token: { file: 'awin.token' } } },
    ...changes,
  };
  writeFileSync(join(folder, 'awin.json'), JSON.stringify(source));
  writeFileSync(join(folder, 'awin.token'), `${SECRET}\n`, { mode: 0o600 });
  return { folder, ...commandLine(() => ({ cwd: folder })) };
}

/** An operator with an account at the sandbox's CJ. */
async function catalogueOperator(changes: Row = {}) {
  const fakes = new FakeNetworks({
    ...{ seed: 7, sinceMs: Date.now(), density: { salesPerDay: 0, cellMs: 3_600_000 }, programmes: 2 },
    ...{ logoUrl: () => 'https://logos.example/', clock: Date.now },
  });
  const server = localServer((request) => fakes.answer(request));
  onTestFinished(() => server.stop(true));
  const folder = temporaryFolder();
  const source = { ...exampleSource('cj', `http://127.0.0.1:${server.port}`), ...changes };
  writeFileSync(join(folder, 'cj.json'), JSON.stringify(source));
  const env = Object.fromEntries(secretVariables('cj').map(({ variable, value }) => [variable, value]));
  const { run, json } = commandLine(() => ({ cwd: folder, env }));
  // The first import creates the database.
  await run('orgs create acme');
  return { programmes: fakes.ledger.programmes('cj', Date.now()), run, json };
}

function listSale(network: FakeNetwork, id: number): void {
  const atMs = Date.now() - 86_400_000;
  const row = awinSale({ id, transactionDate: text(atMs), clickDate: text(atMs - 60_000) });
  network.rows.push({ row, times: { transaction: atMs } });
}

const PULL = 'pull transactions --source awin.json --org acme --since';
const SINCE = text(Date.now() - 3 * 86_400_000);

test('a pull imports sales, reports its state, and never writes the secret', async () => {
  using network = new FakeNetwork();
  listSale(network, 1);
  const { folder, run } = await operator(network);
  await run('orgs create acme');
  const check = await run('pull --check --source awin.json --org acme');
  expect([check.code, check.stdout]).toEqual([0, 'awin:77777: the credentials work.\n']);
  const pulled = await run(`${PULL} ${SINCE}`);
  expect([pulled.code, pulled.stderr]).toEqual([0, '']);
  expect(pulled.stdout).toMatch(
    /^awin:77777, transaction: complete through \S+; 1 added, 0 changed, 0 unchanged\.\nawin:77777, validation: .*\nawin:77777, amendment: .*\n$/,
  );
  const status = await run('pull status --json');
  expect(JSON.parse(status.stdout)).toMatchObject([
    { source: 'awin:77777', stream: 'amendment', organisation: 'acme', error: null },
    { source: 'awin:77777', stream: 'transaction', counts: { added: 1 }, error: null },
    { source: 'awin:77777', stream: 'validation', error: null },
  ]);
  const imports = await run('imports list');
  expect(imports.stdout).toMatch(/ done +1 +\+1 .* transaction 20\S+ – 20\S+\n/);
  const written = readdirSync(folder)
    .filter((name) => name !== 'awin.token')
    .map((name) => readFileSync(join(folder, name), 'latin1'));
  const shown = [check, pulled, status, imports].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  for (const bytes of [...written, ...shown]) expect(bytes).not.toContain(SECRET);
});

test('--every repeats the pull until SIGTERM, and continues where a killed pull ended', async () => {
  using network = new FakeNetwork();
  listSale(network, 1);
  const { folder, run } = await operator(network);
  await run('orgs create acme');
  // The second stream never gets a response.
  const reached = Promise.withResolvers<void>();
  network.planned.push(undefined, async () => {
    reached.resolve();
    return await new Promise<Response>(() => {});
  });
  const child = spawnOfferbook(`${PULL} ${SINCE} --every 1h`.split(' '), { cwd: folder });
  await reached.promise;
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
  const { code, stdout } = await run(`${PULL} ${SINCE}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^awin:77777, transaction: complete through \S+; 0 added, 0 changed, 1 unchanged\.\n/,
  );
});

test('a pull reads sales again only in the first run if --since and --every are combined', async () => {
  using network = new FakeNetwork();
  const { folder, run } = await operator(network);
  await run('orgs create acme');
  const child = spawnOfferbook(`${PULL} ${SINCE} --every 1s`.split(' '), { cwd: folder });
  // Each run has three streams.
  await until(
    () => network.requests.length,
    (count) => count >= 6,
  );
  child.kill('SIGTERM');
  await child.exited;
  const starts = network.requests.map(({ query }) => query.get('startDate'));
  expect(starts.filter((start) => start === SINCE).length).toBe(3);
});

test('a network that hangs does not delay the other sources', async () => {
  using hanging = new FakeNetwork();
  using network = new FakeNetwork();
  listSale(network, 1);
  const { folder, run } = await operator(network);
  const { promise: isPulled, resolve } = Promise.withResolvers<void>();
  // The first network responds only after the second one has been asked for its last stream.
  network.planned.push(undefined, undefined, () => resolve() as undefined);
  hanging.planned.push(async () => {
    await isPulled;
    return Response.json({ message: 'maintenance \u202e' }, { status: 400 });
  });
  const source = JSON.parse(readFileSync(join(folder, 'awin.json'), 'utf8'));
  const other = { ...source, account: '88888', baseUrl: hanging.url };
  writeFileSync(join(folder, 'hanging.json'), JSON.stringify(other));
  await run('orgs create acme');
  const { code, stdout, stderr } = await run(
    `${PULL} ${SINCE}`.replace('--source', '--source hanging.json --source'),
  );
  expect(code).toBe(3);
  expect(stdout).toContain('awin:77777, transaction: complete through');
  // The direction mark in the network's message does not reach the terminal.
  expect(stderr).toMatch(
    /^offerbook: awin:88888, transaction: the network answered with status 400: "maintenance \?" \(failing since \S+\)\n$/,
  );
  const status = await run('pull status');
  expect(status.stdout).toContain('"maintenance ?"');
  const { stdout: json } = await run('pull status --json');
  expect(json).toContain('maintenance \\u202e');
  const streams = JSON.parse(json) as Row[];
  const failing = streams.find(({ source, error }) => source === 'awin:88888' && error !== null);
  expect(failing?.error).toContain('maintenance \u202e');
});

test.each<[string, Row, string]>([
  [
    'an empty environment variable',
    { credentials: { token: { env: 'AWIN_TOKEN' } } },
    'offerbook: the environment variable AWIN_TOKEN is empty, but must contain a secret\n',
  ],
  ['a source without credentials', { credentials: undefined }, 'awin.json has no "credentials"'],
  ['a host elsewhere', { baseUrl: 'http://192.0.2.1:9000' }, 'add --allow-other-host'],
  [
    'a baseUrl with a path',
    { baseUrl: 'http://127.0.0.1:1/x' },
    'baseUrl must be a scheme, a host and a port',
  ],
  [
    'a secret in the source file',
    { credentials: { token: 'abc' } },
    'credentials.token must be a JSON object',
  ],
  ['sub-ids that are clicks', { subId: 'click' }, 'omit --org'],
])('a pull rejects %s', async (_what, changes, message) => {
  using network = new FakeNetwork();
  const { run } = await operator(network, changes);
  const { code, stderr } = await run(`${PULL} ${SINCE}`);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(network.requests).toEqual([]);
});

test('a pull imports a catalogue, `pull status` lists it, and `pull forget` withdraws it', async () => {
  const { programmes, run } = await catalogueOperator();
  const pulled = await run('pull catalogue --source cj.json');
  expect([pulled.code, pulled.stderr]).toEqual([
    0,
    expect.stringContaining('Left out: links without a promotion'),
  ]);
  expect(pulled.stdout).toMatch(
    /^cj:7000000, catalogue: complete through \S+; 2 added, 0 changed, 0 unchanged, 0 withdrawn\.\n$/,
  );
  const exported = await run('export catalogue');
  const names = exported.stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).name));
  expect(names.sort()).toEqual(programmes.map(({ retailer }) => retailer.name).sort());
  const status = await run('pull status --json');
  expect(JSON.parse(status.stdout)).toMatchObject([
    { source: 'cj:7000000', stream: 'catalogue', organisation: null, counts: { added: 2 }, error: null },
  ]);
  const forgotten = await run('pull forget cj:7000000');
  expect(forgotten.stdout).toBe('Forgot cj:7000000: 2 retailers withdrawn. Its sales were kept.\n');
  expect((await run('pull status')).stdout).toBe('Nothing has been pulled yet.\n');
  const again = await run('pull forget cj:7000000');
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('has not been pulled')]);
});

test('a pull rejects a CJ catalogue if the source file has no website', async () => {
  const { run } = await catalogueOperator({ website: undefined });
  const { code, stderr } = await run('pull catalogue --source cj.json');
  expect([code, stderr]).toEqual([2, expect.stringContaining('missing "website"')]);
});
