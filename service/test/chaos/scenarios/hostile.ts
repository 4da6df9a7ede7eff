// Hostile requests, tokens, import files and network files, generated from the seed. No input may cause a failure, an
// undocumented response, a partial import or an error without its reason.

import { attackCommand } from '../hostile/command-attack.ts';
import { attackWithFeeds } from '../hostile/feed-attack.ts';
import { attackWithFiles } from '../hostile/file-attack.ts';
import { attackWithRequests } from '../hostile/request-attack.ts';
import { attackWithTokens } from '../hostile/token-attack.ts';
import { BOTH, type Scenario } from '../scenario.ts';

const ATTACKS = [
  { option: 'requests', attack: attackWithRequests, anyDatabase: true },
  { option: 'tokens', attack: attackWithTokens, anyDatabase: true },
  { option: 'files', attack: attackWithFiles, anyDatabase: false },
  { option: 'commands', attack: attackCommand, anyDatabase: false },
  { option: 'feeds', attack: attackWithFeeds, anyDatabase: false },
];

export const hostile: Scenario = {
  name: 'hostile',
  summary: 'Sends hostile requests, tokens and files; each is answered as documented or rejected as a whole.',
  databases: BOTH,
  minutes: 20,
  options: {
    requests: { type: 'string', default: '50000', help: 'requests on each database' },
    tokens: { type: 'string', default: '5000', help: 'mutated tokens on each database' },
    files: { type: 'string', default: '10000', help: 'damaged import files of each kind, on SQLite only' },
    commands: { type: 'string', default: '48', help: 'damaged files for the import command, on SQLite only' },
    bomb: { type: 'string', multiple: true, help: 'a file that decompresses to a huge one; all if absent' },
    feeds: { type: 'string', default: '10000', help: 'damaged files of each network, on SQLite only' },
  },
  short: {
    minutes: 20,
    values: {
      requests: '200',
      tokens: '100',
      files: '30',
      commands: '2',
      bomb: ['lists in a field that is not read', 'columns without end', 'names that are all different'],
      feeds: '20',
    },
  },
  async run(run) {
    const attacks = ATTACKS.filter(
      // Some attacks use no database, or one of their own.
      ({ option, anyDatabase }) => run.number(option) > 0 && (anyDatabase || run.database.name === 'SQLite'),
    );
    for (const [index, { attack }] of attacks.entries()) {
      const leftMs = run.endMs - performance.now();
      await attack(run, Math.max(1_000, leftMs / (attacks.length - index)));
    }
  },
};
