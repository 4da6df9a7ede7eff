import { afterEach, expect, test } from 'bun:test';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { LogWriter } from '../../src/cli/node/log-writer.ts';
import { writeAll } from '../../src/cli/write-all.ts';
import { temporaryFolder } from '../support/databases.ts';

const opened: number[] = [];
afterEach(() => {
  for (const file of opened.splice(0)) closeSync(file);
});

function open(path: string, flags: string | number): number {
  const file = openSync(path, flags);
  opened.push(file);
  return file;
}

const writerTo = (file: number) => new LogWriter((lines) => writeAll(file, Buffer.from(lines)));
const line = (i: number) => `${JSON.stringify({ i, text: 'é'.repeat(i % 5_000) })}\n`;

test('all log lines arrive complete and in order, regardless of their length', async () => {
  const path = join(temporaryFolder(), 'log');
  const writer = writerTo(open(path, 'w'));
  const lines = Array.from({ length: 2_000 }, (_, i) => line(i));
  for (const each of lines) writer.write(each);
  await writer.close(10_000);
  expect(readFileSync(path, 'utf8')).toBe(lines.join(''));
});

test('a log without a reader drops whole lines at the end, and close() does not wait', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  expect(await Bun.spawn(['mkfifo', pipe]).exited).toBe(0);
  const writer = writerTo(open(pipe, constants.O_RDWR | constants.O_NONBLOCK));
  const text = 'x'.repeat(10_000);
  for (let i = 0; i < 3_000; i++) writer.write(`${i} ${text}\n`);
  const startedAt = performance.now();
  await writer.close(50);
  expect(performance.now() - startedAt).toBeLessThan(5_000);

  const reader = open(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const received = await readWhileItComes(reader);
  const numbers = received.split('\n').map((each) => each.replace(` ${text}`, ''));
  // At most 9 of 30 million characters were kept, and the last line is complete.
  expect(received.length).toBeLessThan(9_000_000);
  expect(numbers).toEqual([...Array.from({ length: numbers.length - 1 }, (_, i) => String(i)), '']);

  writer.write('read again\n');
  await writer.close(10_000);
  expect(await readWhileItComes(reader)).toBe('read again\n');
});

test('log lines are lost while the disk is full, and close() does not wait for them', async () => {
  const writer = writerTo(open('/dev/full', 'w'));
  for (let round = 0; round < 3; round++) {
    writer.write('lost\n');
    await writer.close(60_000);
  }
});

/** Reads until the pipe has been silent for several times the writer's retry interval. */
async function readWhileItComes(file: number): Promise<string> {
  const chunks: Buffer[] = [];
  for (let silentMs = 0; silentMs < 500; ) {
    const chunk = Buffer.alloc(1 << 16);
    try {
      const length = readSync(file, chunk);
      chunks.push(chunk.subarray(0, length));
      silentMs = 0;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EAGAIN') throw error;
      await Bun.sleep(5);
      silentMs += 5;
    }
  }
  return Buffer.concat(chunks).toString();
}
