// Builds query strings and activation links. Does not use URLSearchParams, which lacks `size` in browsers from 2023 and most
// methods in React Native.

import { printTime } from './timestamp.ts';

/** Returns a query that starts with `?`, or an empty string. Omits undefined and null values. */
export function printQuery(parameters: object): string {
  const pairs = Object.entries<string | number | Date | null | undefined>({ ...parameters }).flatMap(
    ([name, value]) => {
      if (value == null) return [];
      const text = typeof value === 'number' ? String(value) : printTime(value);
      return [`${encode(name)}=${encode(text)}`];
    },
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** encodeURIComponent throws on a lone surrogate. Replace it, so that such a search finds nothing instead. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, '\ufffd'));
}

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
