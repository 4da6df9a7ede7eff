// Our ids for what networks number themselves: the same input gives the same id on every machine and at any time, so that
// what is converted and imported again changes nothing.

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
