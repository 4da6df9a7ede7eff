// Receiving webhooks, compared with an independent implementation of the signatures.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  handleWebhook,
  type TransactionsChanged,
  verifyWebhook,
  WebhookError,
  type WebhookHandlerOptions,
  type WebhookHeaders,
} from '../src/webhooks.ts';
import { failure, id } from './support/answers.ts';

const NOW_MS = Date.UTC(2026, 10, 14, 12, 5, 32);
const clock = { now: () => NOW_MS };
const SECRET = toSecret(new Uint8Array(32).fill(7));
const EVENT = {
  type: 'transactions.changed',
  timestamp: '2026-11-14T12:05:32',
  data: {
    transactions: [{ id: id(1), status: 'PENDING', passbackUid: 'Zoë' }],
    after: '2026-11-14T12:00:00',
    completeThrough: null,
  },
} as unknown as TransactionsChanged;

function toSecret(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString('base64')}`;
}

type Message = ReturnType<typeof signed>;

function signed(body: string, secrets = [SECRET], sentAtMs = NOW_MS, id = 'msg_1') {
  const timestamp = String(Math.floor(sentAtMs / 1_000));
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, new Date(sentAtMs), body));
  return { id, timestamp, signature: signatures.join(' '), body };
}

const headersOf = ({ id, timestamp, signature }: Message) => ({
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
});

/** The code of the error; undefined if the signature is valid, whatever the body is. */
async function problemOf(message: Message, secret: string | string[] = SECRET): Promise<string | undefined> {
  const input = { headers: headersOf(message), body: message.body, secret, clock };
  const { code } = (await failure(verifyWebhook(input))) as WebhookError;
  return code === 'bad_body' ? undefined : code;
}

const anyText = fc.string({ unit: 'grapheme', maxLength: 300 });
const anyId = fc.stringMatching(/^[!-~]{1,64}$/);
const anySecret = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(toSecret);

describe('verifyWebhook', () => {
  test('accepts every body that standardwebhooks has signed, as text or bytes, with headers in any form and order', async () => {
    const anyForm = fc.constantFrom<(entries: [string, string][]) => WebhookHeaders>(
      (entries) => new Headers(entries),
      (entries) => Object.fromEntries(entries),
      (entries) => Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), [value]])),
    );
    const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 });
    await fc.assert(
      fc.asyncProperty(anyText, anyId, anySecret, anyForm, order, async (body, id, secret, form, order) => {
        const all = Object.entries({
          ...headersOf(signed(body, [secret], NOW_MS, id)),
          'content-type': 'application/json',
        });
        const headers = form(order.flatMap((index) => all.slice(index, index + 1)));
        const bytes = new TextEncoder().encode(body);
        for (const sent of [body, bytes, bytes.buffer])
          expect(await failure(verifyWebhook({ headers, body: sent, secret, clock }))).toMatchObject({
            code: 'bad_body',
          });
      }),
    );
  });

  test('rejects a webhook in which any one character was changed, as standardwebhooks does', async () => {
    const part = fc.constantFrom('id', 'timestamp', 'signature', 'body');
    const anyCharacter = fc.stringMatching(/^[ -~]$/);
    await fc.assert(
      fc.asyncProperty(part, fc.nat(), anyCharacter, anyText, async (part, place, character, text) => {
        const message = signed(JSON.stringify({ ...EVENT, text }), [SECRET], Date.now());
        const original = message[part];
        const at = place % original.length;
        const changed = original.slice(0, at) + character + original.slice(at + 1);
        fc.pre(changed !== original);
        const forged = { ...message, [part]: changed };
        const input = { headers: headersOf(forged), body: forged.body, secret: SECRET };
        await expect(verifyWebhook(input)).rejects.toThrow(WebhookError);
        expect(() => new Webhook(SECRET).verify(forged.body, headersOf(forged))).toThrow();
      }),
    );
  });

  test('rejects a different encoding of the same signature', async () => {
    const message = signed('');
    // The last character before the padding has two bits that decoders ignore.
    const twin = message.signature.replace(
      /(.)=$/,
      (_, last) => `${String.fromCharCode(last.charCodeAt(0) + 1)}=`,
    );
    expect(Buffer.from(twin.slice(3), 'base64')).toEqual(Buffer.from(message.signature.slice(3), 'base64'));
    expect(await problemOf({ ...message, signature: twin })).toBe('bad_signature');
  });

  test('rejects timestamps that are more than 5 minutes from now, in both directions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -900, max: 900 }), async (offsetS) => {
        const problem = await problemOf(signed('{}', [SECRET], NOW_MS + offsetS * 1_000));
        expect(problem).toBe(Math.abs(offsetS) <= 300 ? undefined : 'bad_timestamp');
      }),
    );
  });

  test('accepts a webhook if and only if one of its signatures was made with one of the secrets', async () => {
    const secrets = [1, 2, 3].map((number) => toSecret(new Uint8Array(32).fill(number)));
    const some = fc.subarray(secrets);
    const strangers = fc.array(fc.constantFrom<string>('v1', 'v1,', 'v1a,AAAA', 'v2,AAAA', 'v1,AAAA', ''));
    await fc.assert(
      fc.asyncProperty(some, some, strangers, fc.nat(), async (senders, own, strangers, place) => {
        fc.pre(own.length > 0 && senders.length + strangers.length > 0);
        const message = signed('{}', senders);
        const signatures = strangers.toSpliced(place % (strangers.length + 1), 0, message.signature);
        const signature = signatures.join(' ');
        fc.pre(signature !== '');
        const isShared = senders.some((secret) => own.includes(secret));
        expect(await problemOf({ ...message, signature }, own)).toBe(isShared ? undefined : 'bad_signature');
      }),
    );
  });

  test.each(['id', 'timestamp', 'signature'] as const)(
    'rejects a webhook without webhook-%s',
    async (part) => {
      expect(await problemOf({ ...signed('{}'), [part]: '' })).toBe('bad_header');
    },
  );

  test.each(['x', '-1', '1e9', ' 1', '1.5'])('rejects the timestamp %p', async (timestamp) => {
    expect(await problemOf({ ...signed('{}'), timestamp })).toBe('bad_header');
  });

  test.each([
    '',
    '[]',
    'null',
    '{"type":"transactions.changed"}',
    '{"type":"other","data":{"transactions":[]}}',
  ])('rejects the authentic body %p, which is not an event that it knows', async (body) => {
    const input = { headers: headersOf(signed(body)), body, secret: SECRET, clock };
    await expect(verifyWebhook(input)).rejects.toMatchObject({ name: 'WebhookError', code: 'bad_body' });
  });

  test.each([
    [''],
    ['secret'],
    ['whsec_'],
    ['whsec_AAAAA'],
    ['whsec_AA=A'],
    ['ob_prv_1'],
    [[]],
    [[SECRET, 'x']],
  ])('throws a TypeError for the secret %p that does not repeat it', async (secret) => {
    const message = signed('{}');
    const error = await failure(verifyWebhook({ headers: headersOf(message), body: '{}', secret, clock }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).not.toMatch(/AA|ob_|secret'/);
  });
});

describe('handleWebhook', () => {
  /** Records what a handler does. */
  function receiver(store: WebhookHandlerOptions['store'] = () => undefined) {
    const stored: TransactionsChanged[] = [];
    const errors: unknown[] = [];
    const options = {
      secret: SECRET,
      clock,
      onError: (error: unknown) => errors.push(error),
      store: (event: TransactionsChanged) => {
        stored.push(event);
        return store(event);
      },
    };
    return { stored, errors, handle: (request: Request) => handleWebhook(request, options) };
  }

  function requestOf(message: Message): Request {
    return new Request('https://shop.example/webhooks', {
      method: 'POST',
      headers: headersOf(message),
      body: message.body,
    });
  }

  test('responds with 204 only after store has resolved', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { stored, errors, handle } = receiver(() => promise);
    let status: number | undefined;
    const response = handle(requestOf(signed(JSON.stringify(EVENT)))).then((response) => {
      status = response.status;
    });
    while (stored.length === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect([stored, status]).toEqual([[EVENT], undefined]);
    resolve();
    await response;
    expect([status, errors]).toEqual([204, []]);
  });

  test.each([
    ['rejects', () => Promise.reject(new Error('disk full'))],
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
  ])('responds with 503 if store %s, and reports the error', async (_, store) => {
    const { errors, handle } = receiver(store);
    const response = await handle(requestOf(signed(JSON.stringify(EVENT))));
    expect([response.status, await response.text(), errors]).toEqual([503, '', [new Error('disk full')]]);
  });

  const message = signed(JSON.stringify(EVENT));
  test.each([
    ['a forged body', 401, 'bad_signature', { ...message, body: `${message.body} ` }],
    ['an old timestamp', 401, 'bad_timestamp', signed(message.body, [SECRET], NOW_MS - 301_000)],
    ['no signature', 400, 'bad_header', { ...message, signature: '' }],
    ['an unknown event', 400, 'bad_body', signed('{"type":"other"}')],
    ['a body of 1 MiB and a byte', 413, 'too_large', signed(' '.repeat(1024 * 1024 + 1))],
  ])('stores nothing if the request has %s, and responds with %p', async (_, status, code, message) => {
    const { stored, errors, handle } = receiver();
    const response = await handle(requestOf(message));
    expect([response.status, await response.text(), stored]).toEqual([status, '', []]);
    expect(errors).toEqual([expect.objectContaining({ name: 'WebhookError', code })]);
  });

  test('responds to other methods with 405', async () => {
    const { stored, handle } = receiver();
    const response = await handle(new Request('https://shop.example/webhooks'));
    expect([response.status, response.headers.get('Allow'), stored]).toEqual([405, 'POST', []]);
  });

  test('stops reading an endless body', async () => {
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks++;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const { handle } = receiver();
    const request = new Request(requestOf(message), { body });
    expect((await handle(request)).status).toBe(413);
    expect(chunks).toBeLessThan(30);
  });

  test('rejects with a TypeError if the secret is malformed, so that the mistake is not taken for a forgery', async () => {
    const handled = handleWebhook(requestOf(message), { secret: 'whsec_', store: () => undefined });
    await expect(handled).rejects.toThrow(TypeError);
  });
});
