// Signs webhooks as Standard Webhooks 1.0 requires, and derives their secrets. A secret is not stored: HKDF derives it from the
// database's key, the id of the endpoint and the number of the secret. So a backup contains it, and a table dump does not.

import { createHmac, hkdfSync } from 'node:crypto';
import type { Webhook } from '../domain/webhook.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** Returns the secret as the receiver gets it: `whsec_` and Base64. */
export function webhookSecret(databaseKey: string, id: Webhook['id'], generation: number): string {
  return PREFIX + deriveKey(databaseKey, id, generation).toString('base64');
}

function deriveKey(databaseKey: string, id: string, generation: number): Buffer {
  return Buffer.from(
    hkdfSync('sha256', databaseKey, '', `offerbook webhook ${id} ${generation}`, SECRET_BYTES),
  );
}

/** Returns the headers that authenticate a message. During a rotation, there is one signature for each valid secret. */
export function signatureHeaders(
  databaseKey: string,
  { id, generation, oldestGeneration, overlapEndsAtMs }: Webhook,
  { messageId, atMs, body }: { messageId: string; atMs: number; body: Uint8Array },
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1_000));
  const signatures: string[] = [];
  const oldest = atMs < overlapEndsAtMs ? oldestGeneration : generation;
  for (let each = generation; each >= oldest; each--) {
    const hmac = createHmac('sha256', deriveKey(databaseKey, id, each));
    signatures.push(`v1,${hmac.update(`${messageId}.${timestamp}.`).update(body).digest('base64')}`);
  }
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
