// Nodes that are replaced, frozen or slow behind proxies, and what the recommended proxies do with requests that fail.

import { describe, expect } from 'bun:test';
import { lacks } from '../../support/programs.ts';
import { PROXIES, type ReverseProxy, startProxy } from '../../support/reverse-proxy.ts';
import { testsWith } from '../../support/tests-with.ts';
import { until } from '../../support/until.ts';
import { testShortForm } from '../short-form.ts';
import { deploys } from './deploys.ts';

const proxy = PROXIES.filter((name) => !lacks(name));
if (proxy.length > 0)
  testShortForm({ ...deploys, short: { minutes: 20, values: { ...deploys.short?.values, proxy } } });

describe.each(PROXIES)('%s', (name) => {
  const { afterAll, beforeAll, test } = testsWith(name);
  /** Paths that reached a stub node. */
  const seen: string[] = [];
  let [isReady, failedChecks] = [true, 0];
  const answer = (request: Request) => {
    // A health check has no Host header, so its URL is a path alone.
    const { pathname } = new URL(request.url, 'http://node');
    if (pathname === '/readyz') {
      failedChecks += Number(!isReady);
      return new Response('', { status: isReady ? 200 : 503 });
    }
    seen.push(pathname);
    if (pathname === '/hangs') return new Promise<Response>(() => {});
    return new Response('', { status: pathname === '/busy' ? 503 : 200 });
  };
  let nodes: Bun.Server<undefined>[];
  let proxy: ReverseProxy;

  beforeAll(async () => {
    nodes = [1, 2].map(() => Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer }));
    const urls = nodes.map(({ url }) => url.origin);
    // Longer than the five seconds in which nginx may try the other node.
    proxy = await startProxy(name, urls, { readTimeoutSeconds: 6 });
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    for (const node of nodes) await node.stop(true);
  });

  /** The statuses of eight requests, and the paths that reached a node. */
  async function ask(path: string) {
    seen.length = 0;
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(proxy.url + path)));
    return { statuses: answers.map(({ status }) => status), seen: [...seen] };
  }
  const eight = (path: string, status: number) => ({
    statuses: Array(8).fill(status),
    seen: Array(8).fill(path),
  });

  test.each([
    ['/busy', 503],
    ['/hangs', 504],
  ])('the proxy sends a request to only one node if the response to %s is %d', async (path, status) => {
    expect(await ask(path)).toEqual(eight(path, status));
  });

  test('the proxy keeps sending requests when all nodes fail their health checks', async () => {
    isReady = false;
    // Three checks fail for each node; wait until one more has failed after them. nginx has no health checks.
    if (name === 'haproxy')
      await until(
        () => failedChecks,
        (count) => count >= 8,
      );
    expect((await fetch(`${proxy.url}/page`)).status).toBe(200);
    isReady = true;
  });

  test('if one of two nodes refuses a connection, the proxy sends the request to the other node', async () => {
    await nodes[0]?.stop(true);
    expect(await ask('/page')).toEqual(eight('/page', 200));
  });
});
