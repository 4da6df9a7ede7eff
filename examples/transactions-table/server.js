// Keeps a copy of the transactions up to date, and serves what each user has earned:
//   GET /users/<passbackUid>   {"PENDING":{"EUR":3.99}}
// Settings: OFFERBOOK_PRIVATE_TOKEN (private), OFFERBOOK_URL, TABLE (a file), PORT.

import { createServer } from 'node:http';
import process, { env, stderr, stdout } from 'node:process';
import { OfferbookClient } from '@offerbook/client';
import { TransactionTable } from './transaction-table.js';

const client = new OfferbookClient({
  baseUrl: env.OFFERBOOK_URL ?? 'http://localhost:8080',
  token: env.OFFERBOOK_PRIVATE_TOKEN ?? '',
});
const table = new TransactionTable(env.TABLE ?? 'transactions-table.json');

const server = createServer(({ url = '' }, response) => {
  const user = findUser(url);
  if (user === undefined) response.writeHead(404).end();
  else {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(table.earnings(user)));
  }
});
// There is no authentication, so listen on this machine only.
server.listen(Number(env.PORT ?? 3001), '127.0.0.1', () => {
  const address = server.address();
  stdout.write(`Listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/\n`);
});

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort());

const follower = client.followTransactions({
  store: { load: () => table.checkpoint, save: (checkpoint) => table.saveCheckpoint(checkpoint) },
  signal: stop.signal,
  onError: (error, retryInMs) => stderr.write(`${error}; trying again in ${retryInMs} ms\n`),
});
for await (const page of follower.pages()) table.upsert(page.data);

server.close();
server.closeAllConnections();

/** @param {string} url */
function findUser(url) {
  const [, encoded] = /^\/users\/([^/?]+)$/.exec(url) ?? [];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    // Malformed percent-encoding.
    return undefined;
  }
}
