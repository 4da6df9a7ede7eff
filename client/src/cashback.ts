// Formats the value of a cashback offer for display.

import type { CashbackOffer } from './wire.ts';

/**
 * Formats as `5%` or `€7.50` in the given locale, such as `'de-AT'`; the default is the machine's locale. Responses do not
 * name the currency of fixed cashback: pass the currency that the API reference or the operator specifies. Without a
 * currency, the result is a bare number.
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
  // `€7` instead of `€7.00`. Browsers that do not support this option ignore it.
  const shorter = { ...options, trailingZeroDisplay: 'stripIfInteger' };
  return new Intl.NumberFormat(locale, shorter as Intl.NumberFormatOptions).format(value);
}
