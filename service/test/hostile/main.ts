// npm run test:hostile: the long form of the hostile tests. Prints what was sent and the results. If a check fails, prints the
// input and how to run the same inputs again, and exits with 1.

import { parseArgs } from 'node:util';
import { FEED_NAMES } from '../../../feeds/test/any-feed.ts';
import { DATABASES } from '../support/databases.ts';
import { stopPostgres } from '../support/postgres-server.ts';
import { attack } from './attack.ts';
import { attackCommand } from './command-attack.ts';
import { attackWithFeeds } from './feed-attack.ts';
import { attackWithFiles } from './file-attack.ts';
import { likelihoodOfGreater, median } from './likelihood.ts';
import { attackWithTokens, BAD_TOKEN_KINDS, compareBadTokens } from './token-attack.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    tokens: { type: 'string', default: '10000' },
    files: { type: 'string', default: '20000' },
    /** Number of files per network. */
    feeds: { type: 'string', default: '10000' },
    seed: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const BAD_TOKEN_ROUNDS = 2_000;
const COMMANDS = 48;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printStatuses(counts: ReadonlyMap<number, number>): string {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return sorted.map(([status, count]) => `${status}: ${count}`).join(', ');
}

/** Divides a total into equal parts, rounded up. */
function share(total: string, parts: number): number {
  return Math.ceil(Number(total) / parts);
}

async function attackRequests(): Promise<void> {
  for (const [index, { name, create }] of DATABASES.entries()) {
    const { requests, statuses, refusals } = await attack(
      await create(),
      share(values.requests, DATABASES.length),
      seed + index,
    );
    print(`${requests} requests on ${name}: no 5xx, all as documented (${printStatuses(statuses)};`);
    print(`  not HTTP, rejected by Bun: ${refusals})`);
  }
}

async function attackTokens(): Promise<void> {
  for (const [index, { name, create }] of DATABASES.entries()) {
    const { tokens, accepted } = await attackWithTokens(
      await create(),
      share(values.tokens, DATABASES.length),
      seed + index,
    );
    print(`${tokens} mutated tokens on ${name}: ${accepted} accepted`);
    const { answers, durationsMs } = await compareBadTokens(await create(), BAD_TOKEN_ROUNDS, seed);
    print(`${BAD_TOKEN_ROUNDS} bad tokens of each kind on ${name}: ${answers.size} different answer`);
    for (const kind of BAD_TOKEN_KINDS) {
      const likelihood = likelihoodOfGreater(durationsMs[kind], durationsMs.unknown);
      print(
        `  ${kind.padEnd(14)} median ${median(durationsMs[kind]).toFixed(4)} ms, slower than unknown in ${(likelihood * 100).toFixed(1)} % of pairs`,
      );
    }
  }
}

async function attackFiles(): Promise<void> {
  for (const kind of ['catalogue', 'transactions'] as const) {
    const done = await attackWithFiles(kind, share(values.files, 2), seed);
    print(
      `${done.files} mutated ${kind} files: ${done.imported} imported, ${done.invalid} refused with the place, ${done.refused} refused whole, 0 by half; slowest ${done.slowestMs.toFixed(0)} ms`,
    );
  }
  const { files, codes, peakMegabytes } = await attackCommand(COMMANDS, seed);
  print(
    `${files} files through the command: exit codes ${printStatuses(codes)}; at most ${peakMegabytes} MB`,
  );
}

async function attackFeeds(): Promise<void> {
  for (const name of [...FEED_NAMES, 'table' as const]) {
    const done = await attackWithFeeds(name, Number(values.feeds), seed);
    print(
      `${done.files} mutated files of ${name}: ${done.converted} converted, ${done.invalid} refused with the place, ${done.refused} refused whole`,
    );
  }
}

async function run(): Promise<number> {
  print(`Seed ${seed}`);
  try {
    if (values.requests !== '0') await attackRequests();
    if (values.tokens !== '0') await attackTokens();
    if (values.files !== '0') await attackFiles();
    if (values.feeds !== '0') await attackFeeds();
    return 0;
  } catch (error) {
    const { message, cause } = error as Error;
    print(`BROKEN: ${message}\n${cause instanceof Error ? cause.message : ''}`);
    print(`Run it again: npm run test:hostile -- --seed ${seed}`);
    return 1;
  }
}

process.exit(await run().finally(stopPostgres));
