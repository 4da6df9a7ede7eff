// Load: overload, crowds of hostile clients, clients that pipeline, and the largest possible pages. Time limits need an
// otherwise idle machine; --busy only reports the times.

import { hostileClients } from '../load/crowds.ts';
import { largePages } from '../load/large-pages.ts';
import { overload } from '../load/overload.ts';
import type { Scenario } from '../scenario.ts';

const PARTS = [
  { name: 'overload', part: overload },
  { name: 'clients', part: hostileClients, onlyOn: 'SQLite' },
  { name: 'large', part: largePages },
];

export const load: Scenario = {
  name: 'load',
  guarantee: 'an overloaded or attacked server serves all other clients',
  minutes: 5,
  options: {
    only: { type: 'string', multiple: true, help: 'overload, clients or large' },
    requests: { type: 'string', multiple: true, help: 'overload: catalogue, transactions or both' },
    clients: { type: 'string', default: '3000', help: 'clients that hold a connection' },
    attack: { type: 'string', multiple: true, help: "clients: nginx or 'endless pipeline, 2', for example" },
    rounds: { type: 'string', default: '5', help: 'rounds with and without hostile clients' },
    'round-seconds': { type: 'string', default: '3', help: 'duration of a round' },
    largest: { type: 'string', default: '1000', help: 'number of the largest transactions' },
  },
  short: {
    minutes: 2 / 60,
    values: {
      requests: 'transactions',
      clients: '600',
      attack: ['alone', 'nginx', 'endless pipeline, 1', 'pipelined bursts, 1'],
      rounds: '1',
      'round-seconds': '1',
      largest: '40',
    },
  },
  async run(run) {
    for (const { name, part, onlyOn } of run.choose('only', PARTS)) {
      if (onlyOn !== undefined && onlyOn !== run.database.name) continue;
      run.print(name);
      await part(run);
    }
  },
};
