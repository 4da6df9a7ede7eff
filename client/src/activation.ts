// Builds activation links. A link needs no request and no token, so it can go into any page or e-mail.

import { printQuery } from './query.ts';

export interface ActivationOptions {
  /** The kind of deal to activate. */
  deal: 'retailer' | 'cashbackOffer' | 'coupon' | 'promotion';
  /** The deal's id. */
  id: string;
  /** Your organisation's public id; ask the operator of the service. */
  orgId: string;
  /** Your opaque id for the user, 1 to 255 characters, returned with the transaction. Never personal data. */
  passbackUid: string;
  /** Any other text to return with the transaction, up to 1,024 characters. */
  passbackData?: string | undefined;
  /** The page of the shop on which the user should arrive: an https URL on one of the retailer's domains. */
  to?: string | undefined;
}

/** Throws a TypeError if an id is empty. The error never contains passbackUid, which may be personal data. */
export function activationPath({ deal, id, orgId, passbackUid }: ActivationOptions): string {
  if (!id || !orgId || !passbackUid) throw new TypeError('id, orgId and passbackUid must not be empty');
  const list = deal === 'cashbackOffer' ? 'cashback-offer' : deal;
  return `/v1/${list}s/${encodeURIComponent(id)}/activate/`;
}

export function activationQuery({ orgId, passbackUid, passbackData, to }: ActivationOptions): string {
  return printQuery({ orgId, passbackUid, passbackData, to });
}
