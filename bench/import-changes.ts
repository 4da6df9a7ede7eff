// Imports files of transactions with the command line, and measures how long it takes.

import { join } from 'node:path';
import { Random } from '@offerbook/sandbox/random.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { openStores } from '../service/src/storage/open-stores.ts';
import { EVERYTHING } from '../service/test/storage/open-test-stores.ts';
import { COMMAND } from '../service/test/support/command.ts';
import { uuidV4 } from './random-transactions.ts';

const LIMIT = 100;

/** Imports changed passback data for random transactions of the first organisation. Returns the duration in seconds. */
export async function importChanges(url: string, folder: string, count: number): Promise<number> {
  const stores = await openStores(url);
  const [org] = await stores.organisations.list();
  const random = new Random('bench', 'changes');
  const lines = new Map<string, string>();
  // A small table can have fewer rows.
  for (let pages = 0; pages < count / 10 && lines.size < count; pages++) {
    const query = { orgId: org?.id ?? 0, cursor: uuidV4(random), limit: LIMIT, window: EVERYTHING };
    const page = await stores.transactions.page(query);
    for (const row of JSON.parse(`[${Buffer.from(page.data)}]`) as Transaction[])
      lines.set(row.id, JSON.stringify({ ...row, passbackData: 'changed' }));
  }
  await stores.close();
  const changes = [...lines.values()].slice(0, count);
  const file = join(folder, 'changes.ndjson');
  await Bun.write(file, changes.join('\n'));
  return importFile(url, file, org?.name ?? '', { changed: changes.length });
}

/** Throws if the import does not report these counts. Returns the duration in seconds. */
export async function importFile(
  url: string,
  file: string,
  org: string,
  expected: Readonly<Record<string, number>>,
): Promise<number> {
  const startedMs = performance.now();
  const child = Bun.spawn(
    [COMMAND, 'import', 'transactions', file, '--org', org, '--database', url, '--json'],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  const printed = await new Response(child.stdout).text();
  const seconds = (performance.now() - startedMs) / 1_000;
  const report = JSON.parse(printed) as Record<string, number>;
  for (const [name, count] of Object.entries(expected))
    if (report[name] !== count) throw new Error(`not all rows were imported: ${printed}`);
  return seconds;
}
