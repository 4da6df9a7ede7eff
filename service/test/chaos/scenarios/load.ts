// Load: overload, crowds of hostile clients, clients that pipeline, and the largest possible pages. Time limits need an
// otherwise idle machine; --busy only reports the times.

import { hostileClients, pipelining } from '../load/crowds.ts';
import { largePages } from '../load/large-pages.ts';
import { overload } from '../load/overload.ts';
import { BOTH, type Scenario } from '../scenario.ts';

const PARTS = [
  { name: 'overload', part: overload, databases: BOTH },
  { name: 'clients', part: hostileClients, databases: ['SQLite'] },
  { name: 'pipelining', part: pipelining, databases: ['SQLite'] },
  { name: 'large', part: largePages, databases: BOTH },
];

export const load: Scenario = {
  name: 'load',
  summary: 'Overloads a server and attacks it with hostile clients; all other clients must be served.',
  databases: BOTH,
  minutes: 5,
  options: {
    only: { type: 'string', multiple: true, help: 'overload, clients, pipelining or large' },
    requests: { type: 'string', multiple: true, help: 'overload: catalogue, transactions or both' },
    clients: { type: 'string', default: '3000', help: 'clients that hold a connection' },
    place: { type: 'string', multiple: true, help: 'clients: alone, nginx or haproxy' },
    workers: { type: 'string', multiple: true, help: 'pipelining: 1 or 2' },
    rounds: { type: 'string', default: '5', help: 'rounds with and without hostile clients' },
    'round-seconds': { type: 'string', default: '3', help: 'duration of a round' },
    largest: { type: 'string', default: '1000', help: 'number of the largest transactions' },
    busy: { type: 'boolean', help: 'report times without checking their limits' },
  },
  short: {
    minutes: 2 / 60,
    values: {
      busy: true,
      requests: 'transactions',
      clients: '600',
      place: ['alone', 'nginx'],
      workers: '1',
      rounds: '1',
      'round-seconds': '1',
      largest: '40',
    },
  },
  async run(run) {
    for (const { name, part, databases } of run.choose('only', PARTS, (it) => it.name)) {
      if (!databases.includes(run.database.name)) continue;
      run.print(name);
      await part(run);
    }
  },
};
