// What a cashback offer is worth, as text for people.

import type { CashbackOffer } from './wire.ts';

/**
 * `5%` or `€7.50`, in the way of a locale such as `'de-AT'`; without one, that of the machine. An answer names no
 * currency for a fixed cashback: give the one that the service's reference or its operator names, or get the bare number.
 */
export function formatCashback(
  offer: Pick<CashbackOffer, 'cashbackPercentage' | 'maximumFixedCommissionFee'>,
  locale?: string | string[],
  currency?: string,
): string {
  const { cashbackPercentage: fraction, maximumFixedCommissionFee: fixed } = offer;
  if (fixed === null) return format(fraction, locale, { style: 'percent', maximumFractionDigits: 2 });
  const style = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return currency === undefined
    ? format(fixed, locale, style)
    : format(fixed, locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
}

function format(
  value: number,
  locale: string | string[] | undefined,
  options: Intl.NumberFormatOptions,
): string {
  // `€7` rather than `€7.00`; browsers that do not know the option print the longer form.
  const shorter = { ...options, trailingZeroDisplay: 'stripIfInteger' };
  return new Intl.NumberFormat(locale, shorter as Intl.NumberFormatOptions).format(value);
}
