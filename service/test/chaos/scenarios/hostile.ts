// Hostile requests, tokens, import files and network files, generated from the seed. No input may cause a failure, an
// undocumented response, a partial import or an error without its reason.

import { FEED_NAMES } from '../../../../feeds/test/any-feed.ts';
import { attackWithBombs } from '../hostile/bomb-attack.ts';
import { attackWithFeeds } from '../hostile/feed-attack.ts';
import { attackWithFiles } from '../hostile/file-attack.ts';
import { attackWithRequests } from '../hostile/request-attack.ts';
import { attackWithTokens } from '../hostile/token-attack.ts';
import type { Scenario } from '../scenario.ts';

/** The attacks by their options. `parts` is the number of kinds of input, which share the time. */
const ATTACKS = [
  { option: 'requests', attack: attackWithRequests, parts: 1, anyDatabase: true },
  { option: 'tokens', attack: attackWithTokens, parts: 1, anyDatabase: true },
  // These use no database, or one of their own.
  { option: 'files', attack: attackWithFiles, parts: 2, anyDatabase: false },
  { option: 'feeds', attack: attackWithFeeds, parts: FEED_NAMES.length + 1, anyDatabase: false },
];

export const hostile: Scenario = {
  name: 'hostile',
  guarantee: 'hostile requests, tokens and files cause no failure, and every response is documented',
  minutes: 20,
  options: {
    requests: { type: 'string', default: '50000', help: 'requests on each database' },
    tokens: { type: 'string', default: '5000', help: 'mutated tokens on each database' },
    files: { type: 'string', default: '10000', help: 'damaged import files of each kind, on SQLite only' },
    feeds: { type: 'string', default: '10000', help: 'damaged files of each network, on SQLite only' },
    bomb: { type: 'string', multiple: true, help: 'a file that decompresses to a huge one; all if absent' },
  },
  short: {
    minutes: 20,
    values: {
      requests: '2000',
      tokens: '500',
      files: '100',
      feeds: '100',
      // The other bombs exceed the same limits.
      bomb: [
        'zeros',
        'a list without end',
        'lists in a list of rows',
        'bad rows',
        'offers that are empty',
        'names that are all different',
      ],
    },
  },
  async run(run) {
    const isSqlite = run.database.name === 'SQLite';
    if (isSqlite) await attackWithBombs(run);
    const attacks = ATTACKS.filter(({ anyDatabase }) => anyDatabase || isSqlite);
    for (const [index, { option, attack, parts }] of attacks.entries()) {
      const leftMs = Math.max(1_000, (run.endMs - performance.now()) / (attacks.length - index));
      const extent = { numRuns: run.number(option), seed: run.seed, interruptAfterTimeLimit: leftMs / parts };
      if (extent.numRuns > 0) await attack(run, extent);
    }
  },
};
