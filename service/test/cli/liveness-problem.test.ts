// How `doctor` and `probe` recognise a live Offerbook, and which reason they report otherwise.

import { expect, test } from 'bun:test';
import { livenessProblem } from '../../src/cli/doctor/liveness-problem.ts';
import { urlOf } from '../../src/cli/node/listen.ts';
import { offerbook, printed, rejected } from '../support/command.ts';
import { localServer } from '../support/local-server.ts';
import { freePort } from '../support/postgres-server.ts';

test.each([
  ['a live Offerbook', () => Response.json({ status: 'live' }), undefined],
  ['an error status', () => Response.json({ status: 'live' }, { status: 500 }), 'it returned status 500'],
  ['another status in the body', () => Response.json({ status: 'ok' }), 'it is not Offerbook'],
  ['a body that is not an object', () => Response.json(null), 'it is not Offerbook'],
  ['a body that is not JSON', () => new Response('live'), 'it is not Offerbook'],
  ['a redirect', () => Response.redirect('/other'), 'it returned status 302'],
])('livenessProblem recognises %s', async (_, answer, expected) => {
  await using server = localServer(({ url }) =>
    url.endsWith('/livez') ? answer() : Response.json({ status: 'live' }),
  );
  expect(await livenessProblem(server.url.origin)).toBe(expected);
});

test('livenessProblem reports a connection closed by the server, and an unknown host', async () => {
  using server = Bun.listen({
    port: 0,
    hostname: '127.0.0.1',
    socket: { data: (socket) => void socket.terminate() },
  });
  expect(await livenessProblem(`http://127.0.0.1:${server.port}`)).toBe(
    'the connection was closed before a response',
  );
  expect(await livenessProblem('http://offerbook.invalid')).toBe('unknown host');
});

test('probe prints whether a service is live, and exits 1 with the reason if it is not', async () => {
  await using server = localServer(() => Response.json({ status: 'live' }));
  expect(await offerbook(['probe', server.url.origin])).toEqual(printed('live\n'));
  const url = `http://127.0.0.1:${await freePort()}`;
  expect(await offerbook(['probe', url])).toEqual(rejected(`${url} is not live: connection refused`, 1));
  expect(await offerbook(['probe', 'livez'])).toEqual(
    rejected('the URL must be of the form http://127.0.0.1:8080, not "livez"'),
  );
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['localhost', 'http://localhost:8080'],
  ['::1', 'http://[::1]:8080'],
])('the URL of a server on %s is %s', (host, url) => {
  expect(urlOf(host, 8080)).toBe(url);
});
