// Activation: where a deal is activated, as the service has it. A link needs no request and no token, and can be put into
// any page or mail.

import { printQuery } from './query.ts';

export interface ActivationOptions {
  /** What is activated. */
  deal: 'retailer' | 'cashbackOffer' | 'coupon' | 'promotion';
  /** Its id. */
  id: string;
  /** The public id of your organisation. The operator of the service tells you. */
  orgId: string;
  /** Your own opaque id of the user, 1 to 255 characters: it comes back with the transaction. No personal data, please. */
  passbackUid: string;
  /** Anything else that is to come back with the transaction, up to 1,024 characters. */
  passbackData?: string | undefined;
}

/** Throws a TypeError for a link that could not be followed. What the user's id is stays unsaid: it may be personal. */
export function activationPath({ deal, id, orgId, passbackUid }: ActivationOptions): string {
  if (!id || !orgId || !passbackUid) throw new TypeError('id, orgId and passbackUid must not be empty');
  const list = deal === 'cashbackOffer' ? 'cashback-offer' : deal;
  return `/v1/${list}s/${encodeURIComponent(id)}/activate/`;
}

export function activationQuery({ orgId, passbackUid, passbackData }: ActivationOptions): string {
  return printQuery({ orgId, passbackUid, passbackData });
}
