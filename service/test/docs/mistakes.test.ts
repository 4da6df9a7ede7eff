// Makes each of the common mistakes in docs/errors.md and compares the response with the document.

import { afterAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OfferbookClient } from '@offerbook/client';
import { TestNode } from '../support/test-node.ts';

const DOCUMENT = readFileSync(join(import.meta.dir, '../../../docs/errors.md'), 'utf8');

interface Got {
  readonly service: string;
  readonly client: string;
}

const node = await TestNode.start({ settings: { rateLimitPublic: 1 } });
/** Redirects every request to the service, like the http port of a service that requires https. */
const redirecting = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => {
    const { pathname, search } = new URL(url);
    return Response.redirect(`${node.url}${pathname}${search}`, 308);
  },
});
/** A website that is not Offerbook. */
const website = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response('<h1>Shop</h1>', { headers: { 'Content-Type': 'text/html' } }),
});

afterAll(async () => {
  await Promise.all([redirecting.stop(true), website.stop(true)]);
  await node[Symbol.asyncDispose]();
});

/** On a busy machine, seconds of the minute may already have passed. */
function sinceTheFirst(detail: string | undefined): string {
  return detail?.replace(/in \d+ s\.$/, 'in 60 s.') ?? '';
}

/** Formats an error response as the document does. */
async function problemOf(answer: Promise<Response>): Promise<string> {
  const { status, code, detail } = (await (await answer).json()) as Record<string, string>;
  return `${status} \`${code}\`: ${sinceTheFirst(detail)}`;
}

/** Returns the message of the client's error, with this test's URLs replaced by those in the document. */
async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call();
    return 'nothing';
  } catch (error) {
    return sinceTheFirst((error as Error).message.replace(/ \(\d{3} \w+, request .*\)$/, ''))
      .replaceAll(redirecting.url.origin, 'http://api.example')
      .replaceAll(website.url.origin, 'https://shop.example')
      .replaceAll(node.url, 'https://api.example');
  }
}

const clientWith = (token: string, baseUrl = node.url) =>
  new OfferbookClient({ baseUrl, token, retry: { attemptsMax: 1 } });

/** Like messageOf(), but the client detects a browser page. */
async function inPage(call: () => unknown): Promise<string> {
  const global = globalThis as { document?: unknown };
  global.document = {};
  try {
    return await messageOf(call);
  } finally {
    delete global.document;
  }
}

/** Keyed by the first column of the table. Each uses new tokens, because the limit is one request per token. */
const MISTAKES: Record<string, () => Promise<Got>> = {
  'no token': async () => ({
    service: await problemOf(node.get('/v1/retailers/')),
    client: await messageOf(() => clientWith('')),
  }),
  'an expired token': async () => {
    const token = await node.token('public', 'acme', 1);
    return {
      service: await problemOf(node.get('/v1/retailers/', token)),
      client: await messageOf(() => clientWith(token).retailers()),
    };
  },
  'the wrong kind of token': async () => {
    const token = await node.token('public');
    return {
      service: await problemOf(node.get('/v1/transactions/', token)),
      client: await messageOf(() => clientWith(token).transactions()),
    };
  },
  'a private token in a page': async () => {
    const token = await node.token('private');
    return {
      service: await problemOf(node.get('/v1/transactions/', token, { Origin: 'https://page.example' })),
      client: await inPage(() => clientWith(token)),
    };
  },
  '`/v1` in the base URL': async () => {
    const token = await node.token('public');
    return {
      service: await problemOf(node.get('/v1/v1/retailers/', token)),
      client: await messageOf(() => clientWith(token, `${node.url}/v1`)),
    };
  },
  'a misspelt filter, `contry`': async () => ({
    service: await problemOf(node.get('/v1/cashback-offers/?contry=DE', await node.token('public'))),
    // In TypeScript, the compiler would report this mistake.
    client: await messageOf(async () => {
      const misspelt = { contry: 'DE' } as { country?: string };
      await clientWith(await node.token('public')).cashbackOffers(misspelt);
    }),
  }),
  'a forged cursor': async () => ({
    service: await problemOf(node.get('/v1/retailers/?cursor=2', await node.token('public'))),
    client: await messageOf(async () =>
      clientWith(await node.token('public'))
        .retailers({ cursor: '2' })
        .toArray({ max: 1 }),
    ),
  }),
  'more requests than the limit': async () => {
    const token = await node.token('public');
    await node.get('/v1/retailers/', token);
    return {
      service: await problemOf(node.get('/v1/retailers/', token)),
      client: await messageOf(() => clientWith(token).retailers()),
    };
  },
  'http instead of https': async () => {
    const token = await node.token('public');
    const headers = { Authorization: `Bearer ${token}` };
    return {
      service: await problemOf(fetch(`${redirecting.url}v1/retailers/`, { headers })),
      client: await messageOf(() => clientWith(token, redirecting.url.origin).retailers()),
    };
  },
  'the address of another site': async () => ({
    service: "that site's response",
    client: await messageOf(async () =>
      clientWith(await node.token('public'), website.url.origin).retailers(),
    ),
  }),
};

/** The rows of the table by their first cell, without Markdown escapes. */
function documented(): Record<string, Got> {
  const [, table = ''] = DOCUMENT.split(
    '| mistake | service response | `@offerbook/client` error |\n|---|---|---|\n',
  );
  const rows = (table.split('\n\n')[0] ?? '').trim().split('\n');
  return Object.fromEntries(
    rows.map((row) => {
      const [mistake = '', service = '', client = ''] = row.slice(2, -2).replaceAll('\\<', '<').split(' | ');
      return [mistake, { service, client }];
    }),
  );
}

test('docs/errors.md lists ten mistakes, and this file makes each of them', () => {
  expect(Object.keys(documented())).toEqual(Object.keys(MISTAKES));
  expect(Object.keys(MISTAKES)).toHaveLength(10);
});

test.each(Object.entries(MISTAKES))(
  'the response to the mistake "%s" is the one in docs/errors.md',
  async (mistake, make) => {
    const { service, client } = await make();
    const words = documented()[mistake];
    // The document may add an explanation before the message.
    expect(words?.service).toEndWith(service);
    const isSame = words?.client.startsWith('the same') === true;
    expect(client).toBe(isSame ? service.replace(/^\d+ `\w+`: /, '') : (words?.client ?? ''));
  },
);
