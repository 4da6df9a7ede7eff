// Answers that had to wait for the database: that they are whole, and how long ones go over the wire.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { DATABASES } from '../support/databases.ts';
import { offer, retailer, transaction } from '../support/fixtures.ts';
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

  test(`pages of the catalogue, for a token that is looked for in ${database.name}, are each the one that was asked for`, async () => {
    await using node = await TestNode.start({ databaseUrl: await database.create() });
    await node.catalogue([
      retailer(1, {
        cashbackOffers: Array.from({ length: 40 }, (_, index) =>
          offer(100 + index, { termsAndExclusions: `${index} `.repeat(300) }),
        ),
      }),
    ]);
    // Before every id there is: the same pages each time, but asked for in another way, so that none is there yet.
    const offersOf = async (round: number, token: string) => {
      const cursor = `00000000-0000-0000-0000-0000000000${10 + round}`;
      const answers = Array.from({ length: 40 }, async (_, index) => {
        const path = `/v1/cashback-offers/?limit=${index + 1}&cursor=${cursor}`;
        return (await node.get(path, token, UNCOMPRESSED)).text();
      });
      return Promise.all(answers);
    };
    const known = await node.token('public');
    await node.get('/v1/coupons/', known);
    const expected = await offersOf(0, known);
    expect(expected.map((body) => JSON.parse(body).data.length)).toEqual(
      expected.map((_, index) => index + 1),
    );
    for (let round = 1; round <= 5; round++) {
      expect(await offersOf(round, await node.token('public'))).toEqual(expected);
    }
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
