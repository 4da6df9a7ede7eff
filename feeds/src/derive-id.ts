// Derives our ids from a network's ids. The same input always gives the same id, so a repeated conversion and import changes
// nothing.

import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Source } from './source/source-file.ts';

/** UUIDv5 of the source's namespace and `network:account:kind:id`. */
export function deriveId(
  { network, account, namespace }: Source,
  kind: 'retailer' | 'offer' | 'coupon' | 'promotion' | 'transaction',
  networkId: string,
): Uuid {
  return Bun.randomUUIDv5(`${network}:${account}:${kind}:${networkId}`, namespace) as Uuid;
}
