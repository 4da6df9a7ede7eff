// A follower's checkpoint in a file: complete after every crash, validated when it is loaded, and in the same format as that of
// `offerbook follow`.

import { describe, expect, test } from 'bun:test';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { offerbook } from '../../service/test/support/command.ts';
import { temporaryFolder } from '../../service/test/support/databases.ts';
import { transaction } from '../../service/test/support/fixtures.ts';
import { TestNode } from '../../service/test/support/test-node.ts';
import { CheckpointError, OfferbookClient } from '../src/index.ts';
import { fileCheckpoint } from '../src/node.ts';
import { failure, id } from './support/answers.ts';

const T0 = '2026-11-14T12:00:00';
const INSIDE = JSON.stringify({ completeThrough: T0, cursor: id(7) });

function place(text?: string): string {
  const path = join(temporaryFolder(), 'place.txt');
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

function linkToItself(): string {
  const path = place();
  symlinkSync(path, path);
  return path;
}

/** `async`, so that a synchronous exception also becomes a rejection. */
const load = async (path: string) => fileCheckpoint(path).load();

describe('file checkpoints', () => {
  test.each([T0, INSIDE])(
    'a checkpoint is saved on one line and loaded unchanged: %s',
    async (checkpoint) => {
      const path = place();
      await fileCheckpoint(path).save(checkpoint);
      expect(readFileSync(path, 'utf8')).toBe(`${checkpoint}\n`);
      expect(await load(path)).toBe(checkpoint);
      expect(existsSync(`${path}.next`)).toBe(false);
    },
  );

  test('saving replaces the old file atomically, so readers never see a partial file', async () => {
    const path = place('2020-01-01T00:00:00\n');
    const reader = openSync(path, 'r');
    await fileCheckpoint(path).save(T0);
    expect(readFileSync(reader, 'utf8')).toBe('2020-01-01T00:00:00\n');
    closeSync(reader);
    expect(readFileSync(path, 'utf8')).toBe(`${T0}\n`);
  });

  test.each(['exists', 'does not exist yet'])(
    'a checkpoint is written through symbolic links to a file that %s',
    async (when) => {
      const [folder, current] = [temporaryFolder(), temporaryFolder()];
      const path = join(folder, 'place.txt');
      if (when === 'exists') writeFileSync(path, `${T0}\n`);
      symlinkSync(path, join(current, 'volume.txt'));
      symlinkSync('volume.txt', join(current, 'place.txt'));
      const linked = fileCheckpoint(join(current, 'place.txt'));
      await linked.save(INSIDE);
      expect(readFileSync(path, 'utf8')).toBe(`${INSIDE}\n`);
      expect(readlinkSync(join(current, 'place.txt'))).toBe('volume.txt');
      expect(await linked.load()).toBe(INSIDE);
      expect([readdirSync(folder), readdirSync(current).toSorted()]).toEqual([
        ['place.txt'],
        ['place.txt', 'volume.txt'],
      ]);
    },
  );

  test('the checkpoint is undefined before the first save', async () => {
    expect(await load(place())).toBeUndefined();
  });

  test('surrounding white space and a byte order mark are ignored when a checkpoint is loaded', async () => {
    expect(await load(place(`\ufeff ${T0} \r\n\n`))).toBe(T0);
  });

  test.each([
    ['\n', 'The checkpoint is empty.'],
    [INSIDE.slice(0, -5), 'JSON that is not a position inside a walk.'],
    ['\0'.repeat(20), 'not a timestamp'],
  ])('a file with %j is rejected as a checkpoint', async (text, reason) => {
    const path = place(text);
    const error = await failure(load(path));
    expect(error).toBeInstanceOf(CheckpointError);
    const { message } = error as Error;
    expect(message).toStartWith(`${path} does not contain a checkpoint. `);
    expect(message).toEndWith(' Remove the file to start from the beginning.');
    expect(message).toContain(reason);
  });

  test.each([
    ['read', () => load(temporaryFolder())],
    ['write', async () => fileCheckpoint('/no/such/folder/place.txt').save(T0)],
    ['write', async () => fileCheckpoint(linkToItself()).save(T0)],
  ] as const)('the error states that the client cannot %s the file', async (action, attempt) => {
    const error = await failure(attempt());
    expect(error).toBeInstanceOf(CheckpointError);
    expect((error as Error).message).toStartWith(`cannot ${action} the checkpoint file `);
  });
});

test("the library and `offerbook follow` resume from each other's file", async () => {
  await using service = await TestNode.start();
  const token = await service.token('private');
  const client = new OfferbookClient({ baseUrl: service.url, token });
  const path = place();
  const byLibrary = async (limit = 1000, pagesMax = 9) => {
    const seen: string[] = [];
    for await (const page of client
      .followTransactions({ store: fileCheckpoint(path), once: true, limit })
      .pages()) {
      seen.push(...page.data.map((change) => change.id));
      if (--pagesMax === 0) break;
    }
    return seen;
  };
  const byCommand = async () => {
    const args = ['follow', '--url', service.url, '--once', '--checkpoint', path];
    const { stdout } = await offerbook(args, { env: { OFFERBOOK_PRIVATE_TOKEN: token } });
    return stdout
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  };

  await service.transactions([1, 2, 3].map((number) => transaction(number)));
  expect(await byLibrary()).toEqual([1, 2, 3].map(id));
  await service.transactions([transaction(4)]);
  expect(await byCommand()).toEqual([id(4)]);
  await service.transactions([5, 6, 7].map((number) => transaction(number)));
  // Stop in the middle of the walk, after two pages.
  expect(await byLibrary(1, 3)).toEqual([5, 6, 7].map(id));
  expect(readFileSync(path, 'utf8')).toContain(`"cursor":"${id(7)}"`);
  expect(await byCommand()).toEqual([id(7)]);
  expect(await byLibrary()).toEqual([]);
});
