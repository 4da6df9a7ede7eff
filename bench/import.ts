// Measures the speed and memory of transaction imports: new rows, the same file again, a few changed rows, then all rows
// changed. The databases alternate, and the result is the median, because a machine's speed varies.
//   npm run bench:import -- [--rows 1000000] [--databases sqlite,postgres] [--repeats 3]

import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '@offerbook/sandbox/random.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { withFolder } from './folder.ts';
import { measureInTurn } from './measure-command.ts';
import { newTransaction, writeLines } from './random-transactions.ts';
import { megabytes, whole } from './table.ts';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    repeats: { type: 'string', default: '3' },
  },
});
const ROWS = Number(options.rows);
const CHANGED_ROWS = 10_000;
const SOLD_FROM_MS = Date.parse('2026-01-01T00:00:00Z');

await withFolder(async (folder) => {
  /** Row `i` of all files is the same transaction. */
  const write = (name: string, status: Status, count: number) => {
    const random = new Random('bench', 1);
    const line = (i: number) =>
      newTransaction(SOLD_FROM_MS + i * 1_000, random, `user-${i}`, status).document;
    return writeLines(join(folder, name), count, line);
  };
  const first = await write('first.ndjson', 'PENDING', ROWS);
  const files = {
    'new rows': first,
    'the same file again': first,
    [`${whole(CHANGED_ROWS)} rows changed`]: await write('changed.ndjson', 'CONFIRMED', CHANGED_ROWS),
    'all other rows changed': await write('all.ndjson', 'CONFIRMED', ROWS),
  };
  const series = options.databases.split(',').map((database) => ({
    database,
    commands: (url: string) =>
      Object.fromEntries(
        Object.entries(files).map(([what, file]) => [
          `${database}: ${what}`,
          [COMMAND, 'import', 'transactions', file, '--org', 'bench', '--database', url],
        ]),
      ),
  }));
  const results = await measureInTurn(folder, series, Number(options.repeats));
  process.stdout.write(
    `${whole(ROWS)} transactions, ${megabytes(Bun.file(first).size)} of NDJSON\n\n${results}\n`,
  );
});
