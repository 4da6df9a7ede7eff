// Responses that had to wait for the database: they are complete, and long ones need few packets.

import { dlopen, ptr } from 'bun:ffi';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { getRequest, HttpConnection } from '../chaos/traffic/http-connection.ts';
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

    // SQLite is usually fast enough for Bun to send the response immediately.
    const isLate = database.name === 'PostgreSQL';
    test.if(isLate && process.platform === 'linux')(
      'a long page is sent in a few packets, not one for every header',
      async () => {
        const connection = await HttpConnection.open(node.url);
        const request = getRequest(PATH, token);
        const perPage: number[] = [];
        for (let page = 0; page < 20; page++) {
          const before = packetsReceived(connection.fd);
          expect(await connection.request(request)).toBe(200);
          perPage.push(packetsReceived(connection.fd) - before);
        }
        connection.close();
        // With one packet per header name and value, the headers alone would need forty.
        expect(Math.min(...perPage)).toBeGreaterThan(0);
        expect(Math.max(...perPage)).toBeLessThan(10);
      },
    );

    test('a long page has a Content-Length for GET and HEAD', async () => {
      const got = await node.get(PATH, token, UNCOMPRESSED);
      const length = String((await got.bytes()).length);
      expect(Number(length)).toBeGreaterThan(15_000);
      expect(got.headers.get('Content-Length')).toBe(length);
      const head = await node.request('HEAD', PATH, token, UNCOMPRESSED);
      expect(head.headers.get('Content-Length')).toBe(length);
      expect(head.headers.has('Transfer-Encoding')).toBe(false);
    });
  });

  test(`concurrent requests with a token that is not yet in memory each get their own page from ${database.name}`, async () => {
    await using node = await TestNode.start({ databaseUrl: await database.create() });
    await node.catalogue([
      retailer(1, {
        cashbackOffers: Array.from({ length: 40 }, (_, index) =>
          offer(100 + index, { termsAndExclusions: `${index} `.repeat(300) }),
        ),
      }),
    ]);
    // A cursor before all ids: the same pages under another URL in every round, so that none is cached yet.
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
    const items = JSON.parse(expected.at(-1) ?? '').data as { id: string }[];
    const token = await node.token('public');
    const found = items.map(async (item) =>
      (await node.get(`/v1/cashback-offers/${item.id}/`, token)).json(),
    );
    expect(await Promise.all(found)).toEqual(items);
  });
}

/** Number of packets with data received on a connection, as counted by the kernel (`tcpi_data_segs_in` of `tcp_info`). */
function packetsReceived(fd: number): number {
  const [IPPROTO_TCP, TCP_INFO, DATA_SEGS_IN] = [6, 11, 152];
  const { symbols } = dlopen('libc.so.6', {
    getsockopt: { args: ['int', 'int', 'int', 'ptr', 'ptr'], returns: 'int' },
  });
  const info = new Uint8Array(DATA_SEGS_IN + 4);
  const size = new Uint32Array([info.length]);
  expect(symbols.getsockopt(fd, IPPROTO_TCP, TCP_INFO, ptr(info), ptr(size))).toBe(0);
  return new DataView(info.buffer).getUint32(DATA_SEGS_IN, true);
}
