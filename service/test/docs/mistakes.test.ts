// Makes each of the common mistakes in docs/errors.md and compares the response with the document.

import { afterAll, expect, test } from 'bun:test';
import { OfferbookClient } from '@offerbook/client';
import { tableOf } from '../support/documents.ts';
import { localServer } from '../support/local-server.ts';
import { TestNode } from '../support/test-node.ts';

interface Mistake {
  /** Makes a token; default: a public one. */
  readonly issue?: () => Promise<string>;
  /** Undefined if the service does not get the request. */
  readonly service?: (token: string) => Promise<Response>;
  readonly client: (token: string) => unknown;
}

const node = await TestNode.start({ settings: { rateLimitPublic: 1 } });
/** Redirects every request to the service, like the http port of a service that requires https. */
const redirecting = localServer(({ url }) => {
  const { pathname, search } = new URL(url);
  return Response.redirect(`${node.url}${pathname}${search}`, 308);
});
/** A website that is not Offerbook. */
const website = localServer(
  () => new Response('<h1>Shop</h1>', { headers: { 'Content-Type': 'text/html' } }),
);

afterAll(async () => {
  await Promise.all([redirecting.stop(true), website.stop(true)]);
  await node[Symbol.asyncDispose]();
});

/** On a busy machine, seconds of the minute may already have passed. */
function sinceTheFirst(detail: string | undefined): string {
  return detail?.replace(/in \d+ s\.$/, 'in 60 s.') ?? '';
}

/** Formats an error response as the document does. */
async function problemOf(answer: Response): Promise<string> {
  const { status, code, detail } = (await answer.json()) as Record<string, string>;
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

/** Calls the function while the client believes that it runs in a browser. */
function inPage(call: () => unknown): unknown {
  const global = globalThis as { document?: unknown };
  global.document = {};
  try {
    return call();
  } finally {
    delete global.document;
  }
}

/** Keyed by the first column of the table. The service and the client get different tokens, because each may be used once. */
const MISTAKES: Record<string, Mistake> = {
  'no token': { service: () => node.get('/v1/retailers/'), client: () => clientWith('') },
  'an expired token': {
    issue: () => node.token('public', 'acme', 1),
    service: (token) => node.get('/v1/retailers/', token),
    client: (token) => clientWith(token).retailers(),
  },
  'the wrong kind of token': {
    service: (token) => node.get('/v1/transactions/', token),
    client: (token) => clientWith(token).transactions(),
  },
  'a private token in a page': {
    issue: () => node.token('private'),
    service: (token) => node.get('/v1/transactions/', token, { Origin: 'https://page.example' }),
    client: (token) => inPage(() => clientWith(token)),
  },
  '`/v1` in the base URL': {
    service: (token) => node.get('/v1/v1/retailers/', token),
    client: (token) => clientWith(token, `${node.url}/v1`),
  },
  'a misspelt filter, `contry`': {
    service: (token) => node.get('/v1/cashback-offers/?contry=DE', token),
    // In TypeScript, the compiler would report this mistake.
    client: (token) => clientWith(token).cashbackOffers({ contry: 'DE' } as { country?: string }),
  },
  'a forged cursor': {
    service: (token) => node.get('/v1/retailers/?cursor=2', token),
    client: (token) => clientWith(token).retailers({ cursor: '2' }).toArray({ max: 1 }),
  },
  'more requests than the limit': {
    issue: async () => {
      const token = await node.token('public');
      await node.get('/v1/retailers/', token);
      return token;
    },
    service: (token) => node.get('/v1/retailers/', token),
    client: (token) => clientWith(token).retailers(),
  },
  'http instead of https': {
    service: (token) =>
      fetch(`${redirecting.url}v1/retailers/`, { headers: { Authorization: `Bearer ${token}` } }),
    client: (token) => clientWith(token, redirecting.url.origin).retailers(),
  },
  'the address of another site': {
    client: (token) => clientWith(token, website.url.origin).retailers(),
  },
};

/** The cells of the table, without Markdown escapes. */
const DOCUMENTED = tableOf('docs/errors.md', 'mistake').map((row) =>
  row.map((cell) => cell.replaceAll('\\<', '<')),
);

test('docs/errors.md lists ten mistakes, and this file makes each of them', () => {
  expect(DOCUMENTED.map(([mistake]) => mistake)).toEqual(Object.keys(MISTAKES));
  expect(Object.keys(MISTAKES)).toHaveLength(10);
});

test.each(Object.entries(MISTAKES))(
  'the response to the mistake "%s" is the one in docs/errors.md',
  async (mistake, { issue = () => node.token('public'), service, client }) => {
    const [, ofService, ofClient = ''] = DOCUMENTED.find(([name]) => name === mistake) ?? [];
    const problem =
      service === undefined ? "that site's response" : await problemOf(await service(await issue()));
    // The document may add an explanation before the message.
    expect(ofService).toEndWith(problem);
    expect(await messageOf(async () => client(await issue()))).toBe(
      ofClient.startsWith('the same') ? problem.replace(/^\d+ `\w+`: /, '') : ofClient,
    );
  },
);
