// How doctor and probe recognise an Offerbook, and the URL under which they look for it.

import { expect, test } from 'bun:test';
import { isOfferbook } from '../../src/cli/doctor/probe.ts';
import { urlOf } from '../../src/cli/node/listen.ts';

test.each([
  ['says that it is live', () => Response.json({ status: 'live' }), true],
  ['says so with an error', () => Response.json({ status: 'live' }, { status: 500 }), false],
  ['says something else', () => Response.json({ status: 'ok' }), false],
  ['says nothing that is JSON', () => new Response('live'), false],
  ['redirects to one that does', () => Response.redirect('/other'), false],
])('a server that %s', async (_, answer, expected) => {
  await using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => (url.endsWith('/livez') ? answer() : Response.json({ status: 'live' })),
  });
  expect(await isOfferbook(server.url.origin)).toBe(expected);
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['localhost', 'http://localhost:8080'],
  ['::1', 'http://[::1]:8080'],
])('the URL of a server on %s is %s', (host, url) => {
  expect(urlOf(host, 8080)).toBe(url);
});
