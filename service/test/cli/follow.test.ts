// offerbook follow, as a process, against a server process.

import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import {
  cleanEnvironment,
  type Finished,
  offerbook,
  printed,
  rejected,
  spawnOfferbook,
} from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { id, transaction } from '../support/fixtures.ts';
import { leakWatch } from '../support/leak-watch.ts';
import { screenOf } from '../support/terminal.ts';
import { TestNode } from '../support/test-node.ts';

const MAIN = join(import.meta.dir, '../../src/main.ts');

const service = await TestNode.start();
const token = await service.token('private');
await service.transactions([transaction(1, { cashback: 1e-7 }), transaction(2)]);

afterAll(() => service[Symbol.asyncDispose]());

function follow(
  args: readonly string[],
  environment: Record<string, string | undefined> = {},
): Promise<Finished> {
  return offerbook(['follow', '--url', service.url, ...args], {
    env: { OFFERBOOK_PRIVATE_TOKEN: token, ...environment },
  });
}

function idsOf(ndjson: string): string[] {
  const lines = ndjson.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

describe('follow --once', () => {
  test('prints every change as NDJSON, saves its checkpoint, and resumes from it', async () => {
    const checkpoint = join(temporaryFolder(), 'place.txt');
    const first = await follow(['--once', '--checkpoint', checkpoint]);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect<string[]>(idsOf(first.stdout)).toEqual([id(1), id(2)]);
    expect(readFileSync(checkpoint, 'utf8')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?\n$/);
    expect(existsSync(`${checkpoint}.next`)).toBe(false);

    await service.transactions([transaction(2, { status: 'DECLINED' }), transaction(3)]);
    const second = await follow(['--once', '--checkpoint', checkpoint]);
    expect<string[]>(idsOf(second.stdout)).toEqual([id(2), id(3)]);

    const third = await follow(['--once', '--checkpoint', checkpoint]);
    expect(third).toEqual(printed(''));
  });

  test('prints a transaction exactly as the service sends it', async () => {
    const response = await fetch(`${service.url}/v1/transactions/`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { stdout } = await follow(['--once', '--json']);
    const lines = stdout.trimEnd().split('\n');
    expect(await response.text()).toContain(`"data":[${lines.join(',')}]`);
    expect(lines[0]).toContain('"cashback":0.0000001,');
  });
});

describe('follow exits 2 with one sentence and prints no rows', () => {
  const place = (text: string) => {
    const path = join(temporaryFolder(), 'place.txt');
    writeFileSync(path, text);
    return path;
  };

  test.each<[string, () => readonly string[], Record<string, string | undefined>, string]>([
    ['no token', () => [], { OFFERBOOK_PRIVATE_TOKEN: undefined }, 'set OFFERBOOK_PRIVATE_TOKEN; tokens'],
    [
      'a public token',
      () => [],
      { OFFERBOOK_PRIVATE_TOKEN: `ob_pub_${'a'.repeat(36)}` },
      'offerbook: OFFERBOOK_PRIVATE_TOKEN is a public token. Transactions need a private token, which starts with ob_prv_.\n',
    ],
    [
      'a malformed token',
      () => [],
      { OFFERBOOK_PRIVATE_TOKEN: 'hunter2' },
      'offerbook: OFFERBOOK_PRIVATE_TOKEN is not a token. A private token is ob_prv_ followed by 36 letters and digits; check that it was copied completely.\n',
    ],
    [
      'an unknown token',
      () => ['--once'],
      { OFFERBOOK_PRIVATE_TOKEN: `ob_prv_${'a'.repeat(36)}` },
      'invalid_token',
    ],
    ['an invalid URL', () => ['--url', 'localhost'], {}, '--url must be a URL such as https://api.example, '],
    ['an invalid interval', () => ['--interval', 'often'], {}, '--interval must be a duration'],
    ['an interval of 0', () => ['--interval', '0s'], {}, '--interval'],
    ['an empty checkpoint file', () => ['--checkpoint', place('')], {}, 'does not contain a checkpoint'],
    [
      'a checkpoint in the future',
      () => ['--once', '--checkpoint', place('9030-01-01T00:00:00')],
      {},
      'The checkpoint 9030-01-01T00:00:00 is in the future',
    ],
    ['a URL of another service', () => ['--url', `${service.url}/docs`], {}, 'not_found'],
  ])('for %s', async (_, args, environment, sentence) => {
    const finished = await follow(args(), environment);
    const { stderr } = finished;
    expect(finished).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
    expect(stderr).not.toContain('hunter2');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

test('follow prints the changes and then exits 2 if the checkpoint cannot be written', async () => {
  const { code, stdout, stderr } = await follow(['--once', '--checkpoint', '/no/such/folder/place.txt']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('cannot write the checkpoint file'),
  });
  expect(idsOf(stdout)).not.toEqual([]);
});

test('follow without --once prints changes as they happen, and exits 0 on SIGTERM', async () => {
  const following = spawnOfferbook(['follow', '--url', service.url, '--interval', '1s'], {
    env: { OFFERBOOK_PRIVATE_TOKEN: token },
  });
  const lines = createInterface({ input: Readable.fromWeb(following.stdout as never) })[
    Symbol.asyncIterator
  ]();
  const next = async () => (await lines.next()).value ?? '';
  while (idsOf(await next())[0] !== id(2));
  await service.transactions([transaction(9)]);
  while (idsOf(await next())[0] !== id(9));
  following.kill('SIGTERM');
  expect(await following.exited).toBe(0);
});

test('follow reports in one sentence that the service is down, and still accepts OFFERBOOK_TOKEN', async () => {
  const args = ['follow', '--url', 'http://127.0.0.1:1', '--once'];
  expect(await offerbook(args, { env: { OFFERBOOK_TOKEN: token } })).toEqual(
    rejected(
      'No complete response from http://127.0.0.1:1/v1/transactions/?limit=1000: connection refused. Check the address and the network.',
      1,
    ),
  );
});

test.each([
  [200, [['UPDATED', 'STATUS', 'ORDER', 'CASHBACK', 'USER', 'ID']]],
  [
    80,
    [
      ['UPDATED', 'STATUS', 'ORDER', 'CASHBACK'],
      ['', 'USER', 'ID'],
    ],
  ],
])(
  'follow prints a table that fits a terminal of %p columns, without control sequences from the data',
  async (cols, header) => {
    await service.transactions([transaction(77, { passbackUid: 'evil\u202e[2J', cashback: 1e-7 })]);
    const command = [process.execPath, MAIN, 'follow', '--url', service.url, '--once'];
    const env = { ...cleanEnvironment(), OFFERBOOK_PRIVATE_TOKEN: token };
    const screen = await screenOf(command, cols, env);
    leakWatch.noteOutput('terminal', screen);
    const lines = screen.split('\r\n');
    expect(lines.slice(0, header.length).map((line) => line.split(/ +/))).toEqual(header);
    expect(lines.filter((line) => line.length > cols)).toEqual([]);
    const last = lines.findIndex((line) => line.endsWith(id(77)));
    const row = lines.slice(last + 1 - header.length, last + 1).flatMap((line) => line.trim().split(/ {2,}/));
    expect(row.slice(1)).toEqual(['PENDING', '79.9 EUR', '0.0000001 EUR', 'evil?[2J', id(77)]);
  },
);
