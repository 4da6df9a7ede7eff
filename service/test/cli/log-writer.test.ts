import { afterEach, expect, test } from 'bun:test';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { logWriter } from '../../src/cli/node/log-writer.ts';
import { writeAll } from '../../src/cli/output.ts';
import { temporaryFolder } from '../support/databases.ts';
import { until } from '../support/until.ts';

const opened: number[] = [];
afterEach(() => {
  for (const file of opened.splice(0)) closeSync(file);
});

function open(path: string, flags: string | number): number {
  const file = openSync(path, flags);
  opened.push(file);
  return file;
}

const writerTo = (file: number) => logWriter((lines) => writeAll(file, Buffer.from(lines)));
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
  await writer.close(50);

  const reader = open(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  // More than a full pipe and the first write, so the writer accepts lines again.
  const first = await read(reader, (text) => text.length > 500_000);
  writer.write('read again\n');
  const received = first + (await read(reader, (text) => text.endsWith('read again\n')));
  const numbers = received.split('\n').map((each) => each.replace(` ${text}`, ''));
  // At most 9 of 30 million characters were kept, and the last line is complete.
  expect(received.length).toBeLessThan(9_000_000);
  const kept = numbers.length - 2;
  expect(numbers).toEqual([...Array.from({ length: kept }, (_, i) => String(i)), 'read again', '']);
});

test('log lines are lost while the disk is full, and close() does not wait for them', async () => {
  const full = open('/dev/full', 'w');
  const outcomes: string[] = [];
  const writer = logWriter(async (lines) => {
    const written = writeAll(full, Buffer.from(lines));
    await written.catch(({ code }) => outcomes.push(`${lines.trimEnd()}: ${code}`));
    return written;
  });
  for (const round of [1, 2, 3]) {
    writer.write(`lost ${round}\n`);
    await writer.close(3_600_000);
  }
  expect(outcomes).toEqual(['lost 1: ENOSPC', 'lost 2: ENOSPC', 'lost 3: ENOSPC']);
});

/** Reads from a pipe until the text is accepted. */
async function read(file: number, accepts: (text: string) => boolean): Promise<string> {
  const chunk = Buffer.alloc(1 << 16);
  let text = '';
  await until(() => {
    try {
      text += chunk.subarray(0, readSync(file, chunk)).toString();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EAGAIN') throw error;
    }
    return accepts(text);
  });
  return text;
}
