// Derives our ids from the ids of networks. The same input gives the same id everywhere, so that repeating a conversion
// and an import changes nothing.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export type IdKind = 'retailer' | 'offer' | 'coupon' | 'promotion' | 'transaction';

export type IdMaker = (kind: IdKind, theirId: string) => Uuid;

/** UUIDv5 of the source's namespace and `network:account:kind:their id`. */
export function idMaker(source: {
  readonly network: string;
  readonly account: string;
  readonly namespace: Uuid;
}): IdMaker {
  const { network, account, namespace } = source;
  return (kind, theirId) => Bun.randomUUIDv5(`${network}:${account}:${kind}:${theirId}`, namespace) as Uuid;
}
