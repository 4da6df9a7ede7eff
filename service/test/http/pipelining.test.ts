// Pipelined requests. Bun answers them one after the other and serves no other connection meanwhile. So a few get responses
// as usual, and after a flood the connection is closed.

import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import { REQUESTS_OF_ALL_MAX } from '../../src/http/access/turn-budget.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

let node: TestNode;
let token: string;
let clock: { mockRestore(): void };

beforeEach(async () => {
  // A fixed clock: on a busy machine, even a few requests can exceed the time limit of a turn.
  clock = spyOn(performance, 'now').mockReturnValue(1_000);
  node = await TestNode.start({ settings: { rateLimitPublic: 0, rateLimitFailedAuth: 0 } });
  await node.catalogue([retailer(1, { cashbackOffers: [offer(11)] })]);
  token = await node.token('public');
  await node.get('/v1/coupons/', token);
});
afterEach(async () => {
  clock.mockRestore();
  await node[Symbol.asyncDispose]();
});

/** A connection and the heads of the responses received on it. */
class Pipeline {
  #socket: Bun.Socket | undefined;
  #received = '';
  #wake = Promise.withResolvers<void>();
  isClosed = false;

  static async open(): Promise<Pipeline> {
    const { hostname, port } = new URL(node.url);
    const pipeline = new Pipeline();
    pipeline.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_, bytes) {
          pipeline.#received += bytes.toString('latin1');
          pipeline.#wake.resolve();
        },
        close() {
          pipeline.isClosed = true;
          pipeline.#wake.resolve();
        },
      },
    });
    return pipeline;
  }

  send(path: string, times: number, headers = ''): void {
    this.#socket?.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`.repeat(times));
  }

  /** Waits for `count` responses or the end of the connection; returns and removes them. */
  async answers(countMax: number): Promise<string[]> {
    const heads = () => this.#received.split('HTTP/1.1 ').slice(1);
    while (heads().length < countMax && !this.isClosed) {
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
    const all = heads();
    this.#received = '';
    return all;
  }

  close(): void {
    this.#socket?.terminate();
  }
}

const statusOf = (answer: string) => answer.slice(0, 3);

test.each([
  ['/nowhere', '', '404'],
  ['/livez', '', '200'],
  ['/v1/cashback-offers/', 'with a token', '200'],
])('a connection that pipelines 20,000 requests for %s is closed early', async (path, kind, status) => {
  const pipeline = await Pipeline.open();
  pipeline.send(path, 20_000, kind === '' ? '' : `Authorization: Bearer ${token}\r\n`);
  const answers = await pipeline.answers(20_000);
  expect(answers.length).toBeLessThanOrEqual(REQUESTS_OF_ALL_MAX);
  // The client is still sending, so the kernel may discard the last responses.
  expect(answers.filter((answer) => statusOf(answer) !== status)).toEqual([]);
  expect(pipeline.isClosed).toBe(true);
});

test('closing a connection for flooding does not affect responses on other connections', async () => {
  const pipeline = await Pipeline.open();
  pipeline.send('/v1/cashback-offers/', 1_000, `Authorization: Bearer ${token}\r\n`);
  await pipeline.answers(1_000);
  const response = await node.get('/v1/cashback-offers/', token);
  expect([response.status, response.headers.get('Connection')]).toEqual([200, null]);
});

test.each([1, 2, 16])('a connection that repeatedly pipelines %i requests stays open', async (times) => {
  const pipeline = await Pipeline.open();
  for (let bundle = 0; bundle < 300 / times; bundle++) {
    pipeline.send('/v1/cashback-offers/', times, `Authorization: Bearer ${token}\r\n`);
    const answers = await pipeline.answers(times);
    expect(answers.map(statusOf)).toEqual(Array.from({ length: times }, () => '200'));
  }
  expect(pipeline.isClosed).toBe(false);
  pipeline.close();
});

test('a connection is not closed because of requests on other connections', async () => {
  const count = Math.floor(REQUESTS_OF_ALL_MAX / 20);
  const pipelines = await Promise.all(Array.from({ length: count }, () => Pipeline.open()));
  for (const pipeline of pipelines) pipeline.send('/livez', 10);
  const answers = await Promise.all(pipelines.map((pipeline) => pipeline.answers(10)));
  expect(answers.map(({ length }) => length)).toEqual(pipelines.map(() => 10));
  for (const pipeline of pipelines) pipeline.close();
});
