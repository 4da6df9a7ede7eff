// Keeps a table of transactions up to date in SQLite, and answers what each user has earned:
//   GET /users/<passbackUid>   {"PENDING":{"EUR":3.99}}
// Settings: OFFERBOOK_TOKEN (private), OFFERBOOK_URL, DATABASE, PORT.

import { OfferbookClient } from '@offerbook/client';
import { TransactionTable } from './transaction-table.ts';

const environment = process.env as Readonly<Record<string, string | undefined>>;
const client = new OfferbookClient({
  baseUrl: environment.OFFERBOOK_URL ?? 'http://localhost:8080',
  token: environment.OFFERBOOK_TOKEN ?? '',
});
const table = new TransactionTable(environment.DATABASE ?? 'transactions.db');

const server = Bun.serve({
  port: environment.PORT ?? 3001,
  // Whoever can ask is told what any user has earned, so nobody on the network can.
  hostname: '127.0.0.1',
  routes: {
    '/users/:uid': ({ params }) => Response.json(table.earnings(params.uid)),
  },
});
process.stdout.write(`Listening on ${server.url}\n`);

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort());

const follower = client.followTransactions({
  // Kept beside the rows: whoever restores the database from a backup has the checkpoint that belongs to it.
  store: { load: () => table.checkpoint, save: (checkpoint) => table.saveCheckpoint(checkpoint) },
  signal: stop.signal,
  onError: (error, retryInMs) => process.stderr.write(`${error}; trying again in ${retryInMs} ms\n`),
});
for await (const changes of follower.pages()) table.upsert(changes);

await server.stop();
table.close();
