// Access to the operations: token kinds, challenges, browsers, methods.

import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { digestToken, newTokenText } from '../../src/domain/access-token.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { printed, runProgram } from '../support/command.ts';
import { DATABASES } from '../support/databases.ts';
import { coupon, ITEM_NUMBERS, id, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { newPostgresSchema } from '../support/postgres-server.ts';
import { attributesOf, SpanCollector, tracingTo } from '../support/span-collector.ts';
import { TestNode } from '../support/test-node.ts';
import { SOON_MS, until } from '../support/until.ts';

const node = await TestNode.start();
await node.catalogue([
  retailer(1, { cashbackOffers: [offer(11)], coupons: [coupon(21)], promotions: [promotion(31)] }),
]);
await node.transactions([transaction(101)]);
const tokens = await node.tokens();
afterAll(() => node[Symbol.asyncDispose]());

const ROOT = join(import.meta.dir, '..', '..', '..');
const REALM = 'Bearer realm="offerbook"';
const INVALID = `${REALM}, error="invalid_token"`;

/** Every operation with a path that finds something. */
const TARGETS = OPERATIONS.map((operation) => {
  const path = operation.path.replace('{id}', id(ITEM_NUMBERS[operation.component] ?? 0));
  return [path, operation] as const;
});

/** The expected response for a token, route, method and origin: status, error code and CORS header. */
function expected(operation: (typeof OPERATIONS)[number], token: string, method: string, origin: boolean) {
  const cors = operation.tokenKind === 'public' ? '*' : null;
  if (method === 'OPTIONS' && origin && operation.tokenKind === 'public')
    return { status: 204, code: undefined, cors };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, code: 'method_not_allowed', cors };
  if (token === 'none') return { status: 401, code: 'missing_token', cors };
  if (token === 'unknown') return { status: 401, code: 'invalid_token', cors };
  if (token !== operation.tokenKind) return { status: 403, code: 'wrong_token_kind', cors };
  if (token === 'private' && origin) return { status: 403, code: 'private_token_in_browser', cors };
  return { status: 200, code: undefined, cors };
}

describe.each(TARGETS)('%s', (path, operation) => {
  for (const token of ['none', 'unknown', 'public', 'private']) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const origin of [false, true]) {
        test(`${method} with ${token} token${origin ? ' from a web page' : ''} gets the documented status, code and CORS header`, async () => {
          const headers: Record<string, string> = origin
            ? { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'GET' }
            : {};
          const text =
            token === 'none'
              ? undefined
              : token === 'unknown'
                ? newTokenText('public')
                : tokens[token as 'public'];
          const response = await node.request(method, path, text, headers);
          const body = await response.text();
          // A coupon also has a code.
          const code =
            response.status < 400 || body === '' ? undefined : (JSON.parse(body) as { code?: string }).code;
          const want = expected(operation, token, method, origin);
          expect({
            status: response.status,
            code,
            cors: response.headers.get('Access-Control-Allow-Origin'),
          }).toEqual({ ...want, code: method === 'HEAD' ? undefined : want.code });
          expect(response.headers.get('Allow')).toBe(want.status === 405 ? 'GET, HEAD' : null);
          if (want.code === 'wrong_token_kind')
            expect(response.headers.get('WWW-Authenticate')).toBe(`${REALM}, error="insufficient_scope"`);
        });
      }
    }
  }
});

describe('authentication', () => {
  const cases: [string, string | undefined, string | null][] = [
    ['no header', undefined, REALM],
    ['an empty header', '', REALM],
    ['another scheme', 'Basic dTpw', REALM],
    ['a scheme alone', 'Bearer', REALM],
    ['a scheme followed only by spaces', 'bearer   ', REALM],
    ['a malformed token', 'Bearer hello', INVALID],
    ['an unknown token', `Bearer ${newTokenText('public')}`, INVALID],
    ['two tokens', `Bearer ${newTokenText('public')}, Bearer ${newTokenText('public')}`, INVALID],
    ['another scheme and then a token', `Basic dTpw, Bearer ${newTokenText('public')}`, INVALID],
    ['a token and then another scheme', `Bearer ${newTokenText('public')}, Basic dTpw`, INVALID],
    [
      'another scheme with parameters, and then a token',
      `Digest realm="a", nonce="b", Bearer ${newTokenText('public')}`,
      INVALID,
    ],
    ['another scheme with "bearer" in its parameters', 'Digest realm="bearer", nonce="a, bearer b"', REALM],
  ];
  test.each(cases)('%s gets 401 with a challenge', async (_, authorization, challenge) => {
    const response = await node.get(
      '/v1/retailers/',
      undefined,
      authorization === undefined ? {} : { Authorization: authorization },
    );
    expect(response.status).toBe(401);
    expect(response.headers.get('WWW-Authenticate')).toBe(challenge);
  });

  test('the authentication scheme is case-insensitive', async () => {
    const response = await node.get('/v1/retailers/', undefined, {
      Authorization: `bEaReR ${tokens.public}`,
    });
    expect(response.status).toBe(200);
  });

  test.each([
    ['a token without the word Bearer', newTokenText('public'), 'The word Bearer is missing.'],
    ['the placeholder ob_pub_…', 'Bearer ob_pub_\u00e2\u0080\u00a6', 'Replace it with your access token.'],
    ['the placeholder <token>', 'Bearer <token>', 'Replace it with your access token.'],
    ['an unset variable', 'Bearer $OFFERBOOK_PUBLIC_TOKEN', 'Replace it with your access token.'],
  ])('%s gets 401 with a hint', async (_, authorization, hint) => {
    const response = await node.get('/v1/retailers/', undefined, { Authorization: authorization });
    const body = await response.text();
    expect([response.status, (JSON.parse(body) as { detail: string }).detail]).toEqual([
      401,
      expect.stringContaining(hint),
    ]);
    expect(body).not.toContain(authorization);
  });

  test('unknown, revoked, expired, mistyped and malformed tokens get the same response after the same steps', async () => {
    await using collector = SpanCollector.start();
    await using own = await TestNode.start({ tracing: tracingTo(collector) });
    const revoked = await own.token('public');
    await own.revoke(revoked);
    const live = await own.token('public');
    const invalid = [
      newTokenText('public'),
      revoked,
      await own.token('public', 'acme', Date.now() - 1),
      `${live.slice(0, -1)}${live.endsWith('0') ? '1' : '0'}`,
      live.replace('ob_', 'xx_'),
    ];
    const answers: unknown[] = [];
    for (const text of invalid) {
      const response = await own.get('/v1/retailers/', text, { 'Request-Id': 'same' });
      const headers = [...response.headers].filter(
        ([name]) => name !== 'date' && !name.startsWith('ratelimit'),
      );
      answers.push([response.status, headers, await response.text()]);
    }
    await own.stopNode();
    const servers = collector.spans.filter(({ name }) => name.startsWith('GET '));
    const steps = servers.map((server) => {
      const within = collector.spans.filter(({ parentSpanId }) => parentSpanId === server.spanId);
      return [server, ...within].map((span) => [span.name, attributesOf(span), span.status]);
    });
    expect(answers).toEqual(invalid.map(() => answers[0]));
    expect(answers[0]).toEqual([401, expect.anything(), expect.stringContaining('"code":"invalid_token"')]);
    expect(steps).toEqual(invalid.map(() => steps[0] ?? []));
    expect(steps[0]?.map(([name]) => name)).toEqual(['GET /v1/retailers/', 'SELECT tokens']);
  });
});

describe('tokens', () => {
  test('a running server rejects a token soon after its revocation', async () => {
    const text = await node.token('public');
    expect((await node.get('/v1/retailers/', text)).status).toBe(200);
    await node.revoke(text);
    await until(
      async () => (await node.get('/v1/retailers/', text)).status,
      (status) => status === 401,
      SOON_MS,
    );
  });

  test.if(DATABASES.some(({ name }) => name === 'PostgreSQL'))(
    'a server that is reloading the catalogue rejects a token soon after its revocation',
    async () => {
      await using own = await TestNode.start({ databaseUrl: await newPostgresSchema() });
      const said = (message: string) => own.logLines.filter((line) => line.includes(message)).length;
      const database = openDatabase(own.databaseUrl, COMMAND_OPTIONS);
      await database.write(async (connection) => {
        // Blocks the node's reload of the catalogue.
        await connection.all('LOCK TABLE retailers IN ACCESS EXCLUSIVE MODE');
        await own.stores.catalogue.write((writer) => writer.markChanged());
        const isReading = `SELECT pid FROM pg_locks WHERE relation = 'retailers'::regclass AND NOT granted`;
        // The reload gives up after two seconds and is retried, so a slow machine may need more than one token.
        await until(async () => {
          const text = await own.token('private');
          const status = async () => (await own.get('/v1/transactions/', text)).status;
          expect(await status()).toBe(200);
          await until(
            () => database.all(isReading),
            (rows) => rows.length > 0,
          );
          const failures = said('the database cannot be read');
          await own.revoke(text);
          await until(status, (each) => each === 401);
          return said('the database cannot be read') === failures;
        });
      });
      await database.close();
      await until(() => said('catalogue reloaded'));
    },
  );

  test("a token's last use is stored at the latest when the node stops", async () => {
    let nowMs = Date.parse('2026-11-14T12:00:00Z');
    const own = await TestNode.start({ clock: () => nowMs });
    const [used, unused] = [await own.token('public'), await own.token('public')];
    nowMs += 5_000;
    await own.get('/v1/retailers/', used);
    await own[Symbol.asyncDispose]();
    const stores = await openStores(own.databaseUrl);
    const { tokens: stored } = await stores.tokens.list();
    await stores.close();
    const lastUse = (text: string) => stored.find(({ digest }) => digest === digestToken(text))?.lastUsedAtMs;
    expect([lastUse(used), lastUse(unused)]).toEqual([nowMs, null]);
  });

  /** Stands for the token, which must not be in the name of a test. */
  const PRIVATE_TOKEN = 'private-token';
  const warnings = (requestId: string) =>
    node.logLines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line.requestId === requestId && line.level === 40);

  describe.each(TARGETS)('%s', (path, { tokenKind }) => {
    const code = tokenKind === 'private' ? 'private_token_in_browser' : 'wrong_token_kind';

    // A same-origin page sends no Origin.
    test.each([
      ['Origin', 'https://shop.example', { origin: 'https://shop.example' }],
      ['Origin', 'null', { origin: 'null' }],
      ['Origin', 'not an origin', {}],
      ['Origin', 'https://shop.example/path', {}],
      ['Origin', `https://${PRIVATE_TOKEN}`, {}],
      ['Sec-Fetch-Site', 'same-origin', {}],
      ['Sec-Fetch-Site', 'same-site', {}],
      ['Sec-Fetch-Site', 'cross-site', {}],
      ['Sec-Fetch-Site', 'none', {}],
      ['Sec-Fetch-Mode', 'navigate', {}],
      ['Sec-Fetch-Mode', 'no-cors', {}],
      ['Sec-Fetch-Mode', 'same-origin', {}],
    ])(
      'rejects a private token from a web page and logs a warning without the token: %s: %s',
      async (name, value, origin) => {
        const requestId = crypto.randomUUID();
        const sent = value.replace(PRIVATE_TOKEN, tokens.private);
        const response = await node.get(path, tokens.private, { [name]: sent, 'Request-Id': requestId });
        expect(response.status).toBe(403);
        expect(await response.json()).toMatchObject({ code });
        const { tokens: stored } = await node.stores.tokens.list();
        const [{ pid, time, ...warning } = {}, ...others] = warnings(requestId);
        expect(others).toEqual([]);
        expect(warning).toEqual({
          level: 40,
          requestId,
          tokenId: stored.find(({ digest }) => digest === digestToken(tokens.private))?.id,
          org: 'acme',
          address: '127.0.0.1',
          ...origin,
          msg: 'private token used in a browser',
        });
        expect(node.logLines.join('').toLowerCase()).not.toContain(tokens.private.toLowerCase());
      },
    );
  });

  test('a private token in a browser is logged even if the address has exceeded its failed-authentication limit', async () => {
    await using limited = await TestNode.start({ settings: { rateLimitFailedAuth: 1 } });
    const text = await limited.token('private');
    const seen = [];
    for (const requestId of ['in-page-1', 'in-page-2', 'in-page-3']) {
      const headers = { Origin: 'https://shop.example', 'Request-Id': requestId };
      seen.push((await limited.get('/v1/transactions/', text, headers)).status);
      await limited.logged((line) => line.requestId === requestId && line.level === 40);
    }
    expect(seen).toEqual([403, 429, 429]);
  });

  test.each([
    ['Node', ['node', '--input-type=module', '-e']],
    ['Bun', [process.execPath, '-e']],
    ['Deno', [join(ROOT, 'node_modules', '.bin', 'deno'), 'eval']],
  ])(
    'a private token sent by fetch() in %s on a server is not mistaken for one in a browser',
    async (_, command) => {
      const program = `
      const headers = { Authorization: 'Bearer ' + process.env.OFFERBOOK_PRIVATE_TOKEN };
      console.log((await fetch('${node.url}/v1/transactions/', { headers })).status);`;
      const env = { ...process.env, OFFERBOOK_PRIVATE_TOKEN: tokens.private };
      const all = [...command, `import process from 'node:process';${program}`];
      expect(await runProgram(all, { env })).toEqual(printed('200\n'));
    },
  );

  test('a public token sent from a web page does not cause a warning', async () => {
    for (const path of ['/v1/coupons/', '/v1/transactions/']) {
      await node.get(path, tokens.public, { Origin: 'https://shop.example', 'Request-Id': 'public-in-page' });
    }
    expect(warnings('public-in-page')).toEqual([]);
  });
});

describe('preflight requests', () => {
  test.each([
    ['authorization,sentry-trace,baggage,traceparent,x-requested-with', undefined],
    ['Authorization, X-My.Header~1', undefined],
    ['', 'Authorization, If-None-Match, Request-Id'],
    ['authorization, <script>', 'Authorization, If-None-Match, Request-Id'],
  ])(
    'a preflight request for the catalogue allows the requested headers: %j',
    async (asked, allowed = asked) => {
      const response = await node.request('OPTIONS', '/v1/coupons/', undefined, {
        Origin: 'https://shop.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': asked,
      });
      expect(response.headers.get('Access-Control-Allow-Headers')).toBe(allowed);
      expect(response.headers.get('Access-Control-Allow-Methods')).toBe('GET, HEAD');
      expect(response.headers.get('Vary')).toBe('Access-Control-Request-Headers');
      expect(response.headers.get('Access-Control-Allow-Credentials')).toBeNull();
    },
  );
});
