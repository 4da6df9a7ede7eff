// The countries where sandbox shops sell, with the currency, time zone and market size that synthetic sales need.

export interface Country {
  readonly code: string;
  readonly currencyCode: string;
  /** Approximate exchange rate. */
  readonly unitsPerEuro: number;
  /** Decimal places in local prices. */
  readonly decimals: 0 | 2;
  /** Standard time. Synthetic sales ignore daylight saving time. */
  readonly utcOffsetHours: number;
  /** Relative number of sales. */
  readonly weight: number;
}

export const COUNTRIES: readonly Country[] = [
  country('AT', 'EUR', 1, 2, 1, 4),
  country('AU', 'AUD', 1.7, 2, 10, 6),
  country('BE', 'EUR', 1, 2, 1, 4),
  country('CA', 'CAD', 1.5, 2, -5, 7),
  country('CH', 'CHF', 1, 2, 1, 4),
  country('CZ', 'CZK', 25, 0, 1, 3),
  country('DE', 'EUR', 1, 2, 1, 16),
  country('DK', 'DKK', 7.5, 2, 1, 3),
  country('ES', 'EUR', 1, 2, 1, 8),
  country('FI', 'EUR', 1, 2, 2, 3),
  country('FR', 'EUR', 1, 2, 1, 11),
  country('GB', 'GBP', 0.85, 2, 0, 14),
  country('GR', 'EUR', 1, 2, 2, 2),
  country('HU', 'HUF', 400, 0, 1, 2),
  country('IE', 'EUR', 1, 2, 0, 3),
  country('IT', 'EUR', 1, 2, 1, 8),
  country('JP', 'JPY', 160, 0, 9, 5),
  country('NL', 'EUR', 1, 2, 1, 7),
  country('NO', 'NOK', 11.5, 2, 1, 3),
  country('NZ', 'NZD', 1.9, 2, 12, 2),
  country('PL', 'PLN', 4.3, 2, 1, 6),
  country('PT', 'EUR', 1, 2, 0, 3),
  country('RO', 'RON', 5, 2, 2, 2),
  country('SE', 'SEK', 11, 2, 1, 5),
  country('US', 'USD', 1.1, 2, -6, 18),
];

/** Groups of countries that a shop typically sells to. */
export const REGIONS = [
  ['DE', 'AT', 'CH'],
  ['GB', 'IE'],
  ['US', 'CA'],
  ['AU', 'NZ'],
  ['SE', 'NO', 'DK', 'FI'],
  ['FR', 'BE', 'CH'],
  ['NL', 'BE'],
  ['ES', 'PT', 'IT', 'GR'],
  ['PL', 'CZ', 'HU', 'RO'],
  ['JP'],
  ['DE', 'FR', 'NL', 'ES', 'IT', 'AT', 'BE'],
];

export function getCountry(code: string): Country {
  const found = COUNTRIES.find((country) => country.code === code);
  if (found === undefined) throw new Error(`unknown sandbox country ${code}`);
  return found;
}

export function roundMoney(amount: number, decimals: 0 | 2): number {
  const factor = 10 ** decimals;
  return Math.round(amount * factor) / factor;
}

function country(
  code: string,
  currencyCode: string,
  unitsPerEuro: number,
  decimals: 0 | 2,
  utcOffsetHours: number,
  weight: number,
): Country {
  return { code, currencyCode, unitsPerEuro, decimals, utcOffsetHours, weight };
}
