// Hostile requests, tokens, import files and network files, generated from the seed. No input may cause a failure, an
// undocumented response, a partial import or an error without its reason.

import { FEED_NAMES } from '../../../../feeds/test/any-feed.ts';
import { BOMBS } from '../hostile/bombs.ts';
import { attackCommand } from '../hostile/command-attack.ts';
import { attackWithFeeds } from '../hostile/feed-attack.ts';
import { attackWithFiles } from '../hostile/file-attack.ts';
import { attackWithRequests } from '../hostile/request-attack.ts';
import { attackWithTokens } from '../hostile/token-attack.ts';
import type { Run } from '../report/run.ts';
import { BOTH, type Scenario } from '../scenario.ts';

/** Attacks of these extents meet every case. */
const ALL_STATUSES_FROM = 2_000;
const ALL_OUTCOMES_FROM = 200;
const FEEDS = [...FEED_NAMES, 'table' as const];
const KINDS = ['catalogue', 'transactions'] as const;

export const hostile: Scenario = {
  name: 'hostile',
  summary: 'Sends hostile requests, tokens and files; each is answered as documented or rejected as a whole.',
  databases: BOTH,
  minutes: 20,
  options: {
    requests: { type: 'string', default: '50000', help: 'requests on each database' },
    tokens: { type: 'string', default: '5000', help: 'mutated tokens on each database' },
    files: { type: 'string', default: '20000', help: 'damaged import files, on SQLite only' },
    commands: { type: 'string', default: '48', help: 'damaged files for the import command, on SQLite only' },
    bomb: { type: 'string', multiple: true, help: 'a file that decompresses to a huge one; all if absent' },
    feeds: { type: 'string', default: '10000', help: 'damaged files of each network, on SQLite only' },
  },
  short: {
    minutes: 20,
    values: {
      requests: '200',
      tokens: '100',
      files: '60',
      commands: '2',
      bomb: ['lists in a field that is not read', 'columns without end', 'names that are all different'],
      feeds: '20',
    },
  },
  async run(run) {
    const attacks = [sendRequests, sendTokens];
    // The other attacks use no database, or one of their own.
    if (run.database.name === 'SQLite') attacks.push(importFiles, runCommands, convertFeeds);
    for (const [index, attack] of attacks.entries()) {
      const leftMs = run.endMs - performance.now();
      await attack(run, Math.max(1_000, leftMs / (attacks.length - index)));
    }
  },
};

async function sendRequests(run: Run, limitMs: number): Promise<void> {
  if (run.number('requests') === 0) return;
  const { requests, statuses, refusals } = await attackWithRequests(await run.database.create(), {
    numRuns: run.number('requests'),
    seed: run.seed,
    interruptAfterTimeLimit: limitMs,
  });
  run.count('requests', requests);
  run.count('requests that are not HTTP, rejected by Bun', refusals);
  for (const [status, count] of [...statuses].sort(([a], [b]) => a - b)) run.count(`status ${status}`, count);
  // Requests reached the service itself, not only Bun's parser.
  const usual = [200, 204, 304, 400, 401, 403, 404, 405, 414];
  const missing = usual.filter((status) => !statuses.has(status));
  if (requests >= ALL_STATUSES_FROM)
    run.require('every usual status must occur', missing.length === 0, missing);
}

async function sendTokens(run: Run, limitMs: number): Promise<void> {
  if (run.number('tokens') === 0) return;
  const { tokens, answers } = await attackWithTokens(await run.database.create(), {
    numRuns: run.number('tokens'),
    seed: run.seed,
    interruptAfterTimeLimit: limitMs,
  });
  run.count('mutated tokens, all rejected', tokens);
  run.require('both operations must reject every token with one response', answers.size === 2, [...answers]);
}

async function importFiles(run: Run, limitMs: number): Promise<void> {
  for (const kind of KINDS) {
    if (run.number('files') === 0) return;
    const { files, imported, invalid, refused } = await attackWithFiles(kind, {
      numRuns: Math.ceil(run.number('files') / KINDS.length),
      seed: run.seed,
      interruptAfterTimeLimit: limitMs / KINDS.length,
    });
    run.row({
      files,
      of: kind,
      accepted: imported,
      'rejected with places': invalid,
      'rejected whole': refused,
    });
    if (files >= ALL_OUTCOMES_FROM)
      run.require(`${kind} files must have every outcome`, Math.min(imported, invalid, refused) > 0);
  }
}

async function runCommands(run: Run): Promise<void> {
  const bombs = run.choose('bomb', BOMBS, ({ name }) => name);
  if (run.number('commands') === 0) return;
  const { files, codes, peakMegabytes } = await attackCommand(run.number('commands'), run.seed, bombs);
  run.count('import commands', files);
  run.count('import commands, peak memory in MB', peakMegabytes);
  run.require('every bomb must be rejected', (codes.get(2) ?? 0) >= bombs.length, [...codes]);
}

async function convertFeeds(run: Run, limitMs: number): Promise<void> {
  for (const name of FEEDS) {
    if (run.number('feeds') === 0) return;
    const { files, converted, invalid, refused } = await attackWithFeeds(name, {
      numRuns: run.number('feeds'),
      seed: run.seed,
      interruptAfterTimeLimit: limitMs / FEEDS.length,
    });
    run.row({
      files,
      of: name,
      accepted: converted,
      'rejected with places': invalid,
      'rejected whole': refused,
    });
    if (files >= ALL_OUTCOMES_FROM)
      run.require(`${name} files must have both outcomes`, Math.min(converted, invalid) > files / 20);
  }
}
