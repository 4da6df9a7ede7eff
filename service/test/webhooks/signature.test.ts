import { expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { Webhook } from '../../src/domain/webhook.ts';
import { signatureHeaders, webhookSecret } from '../../src/webhooks/signature.ts';

const ID = '0192d1a0-0000-7000-8000-000000000001' as Uuid;

/** The part of a webhook that signatures depend on. */
function webhook(generation: number, oldestGeneration = generation, overlapEndsAtMs = 0): Webhook {
  return { id: ID, generation, oldestGeneration, overlapEndsAtMs } as Webhook;
}

function verifies(secret: string, body: Uint8Array, headers: Record<string, string>): boolean {
  try {
    new StandardWebhook(secret).verify(Buffer.from(body).toString(), headers);
    return true;
  } catch {
    return false;
  }
}

test('the standardwebhooks package accepts every signed body and rejects every changed one', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.jsonValue(), (key, messageId, value) => {
      const body = Buffer.from(JSON.stringify(value));
      const headers = signatureHeaders(key, webhook(1), {
        messageId: `m${messageId}`,
        atMs: Date.now(),
        body,
      });
      const secret = webhookSecret(key, ID, 1);
      expect(verifies(secret, body, headers)).toBe(true);
      expect(verifies(secret, Buffer.concat([body, Buffer.from(' ')]), headers)).toBe(false);
      expect(verifies(webhookSecret(`${key}x`, ID, 1), body, headers)).toBe(false);
    }),
  );
});

test('during a rotation all valid secrets verify, and afterwards only the newest', () => {
  const body = Buffer.from('{}');
  const accepted = (atMs: number) => {
    const headers = signatureHeaders('key', webhook(3, 1, Date.now() + 60_000), {
      messageId: 'm',
      atMs,
      body,
    });
    return [1, 2, 3, 4].map((generation) => verifies(webhookSecret('key', ID, generation), body, headers));
  };
  expect(accepted(Date.now())).toEqual([true, true, true, false]);
  expect(accepted(Date.now() + 120_000)).toEqual([false, false, true, false]);
});
