// Answers that had to wait for the database, and are long: what of them goes over the wire, and how.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { DATABASES } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

const PATH = '/v1/transactions/';
const UNCOMPRESSED = { 'Accept-Encoding': 'identity' };

for (const database of DATABASES) {
  describe(`a long page from ${database.name}`, () => {
    let node: TestNode;
    let token: string;

    beforeAll(async () => {
      node = await TestNode.start({ databaseUrl: await database.create() });
      token = await node.token('private');
      await node.transactions(Array.from({ length: 150 }, (_, i) => transaction(i)));
    });
    afterAll(() => node[Symbol.asyncDispose]());

    // One from SQLite is ready before the runtime has done with its request, unless there is much to do.
    const isLate = database.name === 'PostgreSQL';
    test.if(isLate && process.platform === 'linux')(
      'takes a few packets, not one for every header',
      async () => {
        const pages = 200;
        const before = packetsSent();
        for (let done = 0; done < pages; done += 20) {
          const answers = Array.from({ length: 20 }, () => node.get(PATH, token, UNCOMPRESSED));
          for (const answer of answers) expect((await (await answer).bytes()).length).toBeGreaterThan(15_000);
        }
        const perPage = (packetsSent() - before) / pages;
        // Some twenty with the questions to PostgreSQL. Sent name by name and value by value, the headers alone
        // would be forty more.
        expect(perPage).toBeLessThan(40);
      },
    );

    test('GET and HEAD tell its length', async () => {
      const got = await node.get(PATH, token, UNCOMPRESSED);
      const length = String((await got.bytes()).length);
      expect(Number(length)).toBeGreaterThan(15_000);
      expect(got.headers.get('Content-Length')).toBe(length);
      const head = await node.request('HEAD', PATH, token, UNCOMPRESSED);
      expect(head.headers.get('Content-Length')).toBe(length);
      expect(head.headers.has('Transfer-Encoding')).toBe(false);
    });
  });
}

/** By this machine so far, over TCP: a request, what the database is asked for it, and all acknowledgements are among them. */
function packetsSent(): number {
  const [names = [], values = []] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '));
  return Number(values[names.indexOf('OutSegs')]);
}
