// The sandbox command, run as a process: its output, its data and its errors.

import { describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSource } from '@offerbook/feeds/source/source-file.ts';
import { NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { importCatalogue } from '../../src/importer/import-catalogue.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { COMMAND, offerbook, rejected, runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { retailer } from '../support/fixtures.ts';
import { lacks } from '../support/programs.ts';
import { Sandbox } from '../support/sandbox.ts';
import { ndjson } from '../support/test-node.ts';

interface List {
  readonly data: readonly Record<string, unknown>[];
  readonly cursor?: string;
}

const shell = (line: string) => runProgram(['sh', '-c', line]);

describe('the sandbox command', () => {
  const folder = temporaryFolder();

  test.skipIf(lacks('curl'))(
    'the sandbox prints three working requests on one screen, serves its logos and exits cleanly',
    async () => {
      await using sandbox = await Sandbox.start(folder);
      expect(sandbox.text).toContain(`Explorer   http://localhost:${sandbox.port}/\n`);
      expect(sandbox.text).toContain(`Docs       http://localhost:${sandbox.port}/docs\n`);
      expect(sandbox.text).toContain(
        `API        http://localhost:${sandbox.port}   the base URL; operations are under /v1/\n`,
      );
      const [, consoleUrl = ''] = /Console +(http:\/\/localhost:\d+\/)/.exec(sandbox.text) ?? [];
      expect(await (await fetch(`${consoleUrl}totals`)).text()).toContain(
        'Transactions by month of the sale',
      );
      expect(sandbox.text).toContain('./offerbook-sandbox.db');
      expect(sandbox.text).not.toContain('\x1b');

      const answers = await Promise.all(sandbox.curlLines.map(shell));
      expect(answers.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        Array.from({ length: 3 }, () => ({ code: 0, stderr: '' })),
      );
      // A terminal has 80 columns and 24 lines. The cursor is in the last line.
      const screenLines = sandbox.text
        .trimEnd()
        .split('\n')
        .map((line) => Math.ceil(line.length / 80) || 1);
      expect(screenLines.reduce((sum, lines) => sum + lines, 0)).toBeLessThan(24);
      const [retailers, changes, click] = answers.map(({ stdout }) => stdout) as [string, string, string];
      expect((JSON.parse(retailers) as List).data).toHaveLength(3);
      expect(changes).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(changes).toMatch(/\r\nComplete-Through: \d{4}-\d{2}-\d{2}T[\d:.]+\r\n/);
      expect((JSON.parse(changes.slice(changes.indexOf('\r\n\r\n'))) as List).data.length).toBeGreaterThan(0);

      const [, orgId] = / {2}orgId +([0-9a-f-]{36}) {3}for activation links\n/.exec(sandbox.text) ?? [];
      expect(sandbox.curlLines[2]).toContain(`/activate/?orgId=${orgId}&passbackUid=user-1'`);
      expect(click).toMatch(/^HTTP\/1\.1 302 Found\r\n/);
      expect(click).toContain(`Location: ${sandbox.url}/sandbox/shop/`);

      const logo = await fetch(`${(JSON.parse(retailers) as List).data[0]?.logo}`);
      expect(logo.status).toBe(200);
      expect(logo.headers.get('Content-Type')).toBe('image/svg+xml');
      expect(logo.headers.get('Content-Security-Policy')).toBe("default-src 'none'; sandbox");
      expect(logo.headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(await logo.text()).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"');
      expect((await fetch(`${sandbox.url}/sandbox/logos/nobody.svg`)).status).toBe(404);
      // All logos share one route in the metrics.
      const metrics = await (await fetch(`${consoleUrl}metrics`)).text();
      expect(new Set(metrics.match(/route="\/sandbox\/logos[^"]*"/g))).toEqual(
        new Set(['route="/sandbox/logos/{file}"']),
      );

      expect(await sandbox.stop('SIGINT')).toEqual({ code: 0, stderr: '' });
      expect(readdirSync(folder).toSorted()).toEqual([
        'offerbook-sandbox.db',
        'offerbook-sandbox.db-activations',
        'offerbook-sandbox.db-reserve',
        'offerbook-sandbox.db-walks',
      ]);
    },
  );

  test('the sandbox logs to stderr in the same format as the server', async () => {
    await using sandbox = await Sandbox.start(folder, '--log-level', 'info');
    const { code, stderr } = await sandbox.stop();
    // The sandbox may stop before it sends webhooks.
    const lines = stderr
      .split('\n')
      .filter((line) => line !== '' && !line.includes('"this node sends webhooks"'));
    expect(code).toBe(0);
    expect(lines.map((line) => JSON.parse(line) as Record<string, unknown>)).toEqual(
      ['listening', 'ready', 'stopped'].map((msg) => ({
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
        pid: expect.any(Number),
        msg,
        ...(msg === 'listening' ? { url: `http://127.0.0.1:${sandbox.port}` } : {}),
        ...(msg === 'ready' ? { revision: expect.any(Number) } : {}),
      })),
    );
  });

  test('a sandbox keeps its data and tokens between starts, and its data keeps changing', async () => {
    await using before = await Sandbox.start(folder);
    const [retailers, transactions] = await Promise.all([
      before.get<List>('/v1/cashback-offers/?limit=1000', 'pub'),
      before.get<List>('/v1/transactions/?limit=5', 'prv'),
    ]);
    const { port } = before;
    await before.stop('SIGKILL');

    await using after = await Sandbox.start(folder, '--port', port, '--speed', '40');
    expect(await after.get<List>('/v1/cashback-offers/?limit=1000', 'pub')).toEqual(retailers);
    expect(await after.get<List>('/v1/transactions/?limit=5', 'prv')).toEqual(transactions);
    const tokens = (sandbox: Sandbox) => [sandbox.token('pub'), sandbox.token('prv')];
    expect(tokens(after)).toEqual(tokens(before));

    const since = new Date(Date.now()).toISOString().slice(0, 19);
    let sold: List = { data: [] };
    while (!sold.data.some(({ status }) => status === 'PENDING')) {
      await Bun.sleep(20);
      sold = await after.get<List>(`/v1/transactions/?updatedAtGreaterThan=${since}`, 'prv');
    }
    expect(sold.data.filter(({ updatedAt }) => `${updatedAt}` <= since)).toEqual([]);
    expect(await after.stop()).toEqual({ code: 0, stderr: '' });
    // The import log contains everything that the sandbox imports.
    const args = ['transactions', 'show', String(sold.data[0]?.id), '--json'];
    const shown = await offerbook([...args, '--database', 'sqlite:offerbook-sandbox.db'], { cwd: folder });
    expect(JSON.parse(shown.stdout).versions[0]).toMatchObject({
      file: 'synthetic data',
      import: expect.any(Number),
    });
  });

  test('the sandbox rejects a second sandbox on its file, a port in use and another seed, and starts over with --fresh', async () => {
    await using sandbox = await Sandbox.start(folder);
    const elsewhere = temporaryFolder();
    const [second, taken] = await Promise.all([
      offerbook(['sandbox', '--port', '0', '--fresh'], { cwd: folder }),
      offerbook(['sandbox', '--port', sandbox.port], { cwd: elsewhere }),
    ]);
    expect(second).toEqual(
      rejected(/^offerbook: another sandbox is using \.\/offerbook-sandbox\.db; stop it first, or .+\n$/),
    );
    expect(taken).toEqual(rejected(/^offerbook: port \d+ on 127\.0\.0\.1 is in use; .+\n$/));
    expect(readdirSync(elsewhere)).toEqual([]);
    await sandbox.get('/v1/retailers/', 'pub');
    await sandbox.stop();

    const otherSeed = await offerbook(['sandbox', '--port', '0', '--seed', '7'], { cwd: folder });
    expect(otherSeed).toEqual(
      rejected(
        /^offerbook: the sandbox's data was generated with seed 1; add --fresh to start over with seed 7\n$/,
      ),
    );
    await using fresh = await Sandbox.start(folder, '--seed', '7', '--fresh');
    expect(fresh.text).toContain('(seed 7)');
    const [first] = (await fresh.get<List>('/v1/retailers/?limit=1', 'pub')).data;
    await fresh.stop();
    await using again = await Sandbox.start(folder, '--port', fresh.port);
    expect((await again.get<List>('/v1/retailers/?limit=1', 'pub')).data).toEqual([first ?? {}]);
    expect(again.text).toContain(`Start over  offerbook sandbox --port ${fresh.port} --seed 7 --fresh\n`);
  });
});

test('the printed command for starting over contains the options of this run', async () => {
  const database = `sqlite:${temporaryFolder()}/my sandbox's.db`;
  await using sandbox = await Sandbox.start(temporaryFolder(), '--seed', '7', '--database', database);
  const quoted = database.replace("'", "'\\''");
  expect(sandbox.text).toContain(
    `Start over  offerbook sandbox --database '${quoted}' --seed 7 --port 0 --fresh\n`,
  );
});

test.skipIf(lacks('curl'))(
  'the sandbox serves fake networks on request, and prints commands that pull from them',
  async () => {
    const folder = temporaryFolder();
    await using sandbox = await Sandbox.start(folder, '--networks');
    expect(sandbox.text).toContain('sandbox --port 0 --networks --fresh\n');
    const sources = [
      ...sandbox.text.matchAll(/ (http:\S+\/sources\/(\w+)\.json) {3}source file; set (.+)\n/g),
    ];
    expect(sources.map(([, , network]) => network)).toEqual([...NETWORKS]);
    for (const [, url = ''] of sources) parseSource(await (await fetch(url)).text(), url);
    const [, commands = ''] = sandbox.text.split("# Yesterday's sales at Awin, before they are converted\n");
    const [first = '', ...lines] = commands
      .split('\n\n')
      .slice(0, 2)
      .join('\n')
      .split('\n')
      .map((line) => line.trim());
    const sales = JSON.parse((await shell(first)).stdout) as unknown[];
    expect(sales.length).toBeGreaterThan(3);
    const pulled = await shell(
      `cd '${folder}' && ${lines.filter((line) => !line.startsWith('#')).join(' && ')}`.replaceAll(
        /(?<=^|\s)offerbook /g,
        `${COMMAND} `,
      ),
    );
    expect(pulled.code).toBe(0);
    expect(pulled.stdout).toMatch(
      /^\S+, changes: complete through \S+; \d+ added.*\n\S+, catalogue: complete through \S+; 12 added.*\n$/m,
    );
    expect(await sandbox.stop()).toEqual({ code: 0, stderr: '' });
  },
);

describe('rejected sandbox starts', () => {
  test('the sandbox changes nothing and prints one sentence if the folder is not writable, is a file or does not exist', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    for (const [folder, sentence] of [
      [unwritableFolder(), /^offerbook: the folder \S+ is not writable; start in another folder, or .+\n$/],
      [file, /^offerbook: \S+ is a file, not a folder\n$/],
      [`${file}.d`, /^offerbook: the folder \S+ does not exist\n$/],
    ] as const) {
      const args = ['sandbox', '--port', '0', '--database', `sqlite:${folder}/sandbox.db`];
      expect(await offerbook(args)).toEqual(rejected(sentence));
    }
  });

  test('the sandbox does not change or delete a database that it did not create', async () => {
    const path = join(temporaryFolder(), 'production.db');
    const stores = await openStores(`sqlite:${path}`, CREATE_OPTIONS);
    await importCatalogue(stores.catalogue, sourceFrom(ndjson([retailer(1)])), {});
    await stores.close();
    for (const more of [[], ['--fresh']]) {
      expect(await offerbook(['sandbox', '--port', '0', '--database', `sqlite:${path}`, ...more])).toEqual(
        rejected(/^offerbook: this database contains data that was not created by a sandbox; .+\n$/),
      );
    }
    expect(existsSync(path)).toBe(true);
    expect((await offerbook(['export', 'catalogue', '--database', `sqlite:${path}`])).stdout).toBe(
      ndjson([retailer(1)]),
    );
  });

  test.each([
    ['--seed', 'x', /^offerbook: --seed must be a whole number from 0 to 2147483647, not "x"\n$/],
    ['--speed', '0', /^offerbook: --speed must be a number greater than 0 and at most 1000, not "0"\n$/],
    ['--port', '99999', /^offerbook: --port must be a whole number from 0 to 65535, not "99999"\n$/],
  ])(
    'the sandbox changes nothing and prints one sentence for the invalid option %s %s',
    async (option, value, sentence) => {
      const folder = temporaryFolder();
      expect(await offerbook(['sandbox', option, value], { cwd: folder })).toEqual(rejected(sentence));
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});

/** Root ignores permissions, but even root cannot create a file in /proc. */
function unwritableFolder(): string {
  if (process.getuid?.() === 0) return '/proc';
  const folder = join(temporaryFolder(), 'read-only');
  mkdirSync(folder);
  chmodSync(folder, 0o555);
  return folder;
}
