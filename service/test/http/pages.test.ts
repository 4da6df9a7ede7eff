// The HTTP side of the HTML pages: security headers, tokens in pages, and caching.

import { afterAll, describe, expect, test } from 'bun:test';
import { readServeSettings } from '../../src/config.ts';
import { newTokenText } from '../../src/domain/access-token.ts';
import { TestNode } from '../support/test-node.ts';

const node = await TestNode.start();

afterAll(() => node[Symbol.asyncDispose]());

const policy = (response: Response) => response.headers.get('Content-Security-Policy');

describe('the explorer', () => {
  test('with the explorer off, the start page contains neither scripts nor a token', async () => {
    await using quiet = await TestNode.start({
      settings: { explorer: 'off' },
      pageToken: newTokenText('public'),
    });
    const response = await quiet.get('/');
    const page = await response.text();
    expect(page).not.toContain('<script');
    expect(page).not.toContain('ob_pub_');
    expect(policy(response)).toStartWith(
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'",
    );
  });

  test('the explorer is allowed to load logos only from the configured origins', async () => {
    const explorerLogos = ['https://cdn.example', 'https://img.example'];
    await using open = await TestNode.start({ settings: { explorerLogos } });
    expect(policy(await open.get('/'))).toContain(
      "; img-src 'self' https://cdn.example https://img.example; ",
    );
    expect(policy(await open.get('/docs'))).toContain("; img-src 'self'; ");
    expect(policy(await node.get('/'))).toContain("; img-src 'self'; ");
  });

  test('the explorer contains a token only if the node has a page token', async () => {
    const pageToken = newTokenText('public');
    await using sandbox = await TestNode.start({ pageToken });
    expect(await (await sandbox.get('/')).text()).toContain(
      `<meta name="offerbook-token" content="${pageToken}">`,
    );
    expect(await (await node.get('/')).text()).not.toContain('offerbook-token');
  });

  test.each(['/', '/docs', '/docs/polling', '/errors/', '/errors/not_found'])(
    'other origins cannot read %s, which may contain the token',
    async (path) => {
      await using sandbox = await TestNode.start({ pageToken: newTokenText('public') });
      const origin = { Origin: 'https://elsewhere.example' };
      const read = await sandbox.get(path, undefined, origin);
      const preflight = await sandbox.request('OPTIONS', path, undefined, {
        ...origin,
        'Access-Control-Request-Method': 'GET',
      });
      expect([read, preflight].map(({ status }) => status)).toEqual([200, 405]);
      const allowed = [read, preflight].flatMap(({ headers }) =>
        [...headers.keys()].filter((name) => name.startsWith('access-control-')),
      );
      expect(allowed).toEqual([]);
    },
  );

  test('a node does not start if the guest token of its pages is private', () => {
    return expect(TestNode.start({ pageToken: newTokenText('private') })).rejects.toThrow(
      'a guest token must be a public token',
    );
  });

  test.each([
    'cdn.example',
    'https://cdn.example/logos',
    'https://a.example;script-src *',
    'http:',
    'ftp://x',
  ])('the server does not start with --explorer-logos "%s"', (explorerLogos) => {
    expect(() => readServeSettings({ explorerLogos }, {})).toThrow(
      '--explorer-logos must be a list of origins',
    );
  });

  test('--explorer-logos accepts origins, or https: for all origins', () => {
    const read = (explorerLogos: string) => readServeSettings({ explorerLogos }, {}).explorerLogos;
    expect([read(''), read('https:'), read('https://a.example, http://b.example:81')]).toEqual([
      [],
      ['https:'],
      ['https://a.example', 'http://b.example:81'],
    ]);
  });
});

test.each(['/', '/docs', '/docs/reference', '/docs/polling', '/errors', '/errors/not_found'])(
  '%s is an HTML page that sends no referrer, is isolated from windows of other origins, disables content sniffing and enforces Trusted Types',
  async (path) => {
    expect(Object.fromEntries((await node.get(path)).headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("require-trusted-types-for 'script'"),
    });
  },
);

describe('assets', () => {
  async function assetPaths(): Promise<string[]> {
    const page = await (await node.get('/')).text();
    return [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  }

  test('assets are immutable at their versioned URL, and revalidated at any other URL', async () => {
    const paths = await assetPaths();
    expect(paths.map((path) => path.split('?')[0])).toEqual(['/assets/site.css', '/assets/catalogue.js']);
    for (const path of paths) {
      const kept = async (asked: string) => (await node.get(asked)).headers.get('Cache-Control');
      expect(await kept(path)).toBe('public, max-age=31536000, immutable');
      expect(await kept(path.replace(/v=.*/, 'v=other'))).toBe('no-cache');
    }
  });

  test('assets are compressed, and get a 304 if unchanged', async () => {
    for (const path of [...(await assetPaths()), '/', '/docs', '/openapi.json']) {
      const response = await node.get(path, undefined, { 'Accept-Encoding': 'gzip' });
      expect([path, response.status, response.headers.get('Content-Encoding')]).toEqual([path, 200, 'gzip']);
      const tag = response.headers.get('ETag') ?? '';
      const again = await node.get(path, undefined, { 'Accept-Encoding': 'gzip', 'If-None-Match': tag });
      expect([path, again.status, await again.text()]).toEqual([path, 304, '']);
    }
  });

  test("the explorer's assets and its page are together smaller than 100 KB", async () => {
    const bodies = await Promise.all(
      ['/', '/favicon.svg', ...(await assetPaths())].map(async (path) => {
        const response = await node.get(path, undefined, { 'Accept-Encoding': 'identity' });
        return Bun.gzipSync(await response.arrayBuffer()).length;
      }),
    );
    expect(bodies.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  });
});
