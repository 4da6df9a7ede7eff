// The countries where sandbox shops sell, with the currency and market size that synthetic sales need.

/** The exchange rate is approximate, the decimals are those of local prices, and the weight is the relative number of sales. */
const ROWS: readonly [
  code: string,
  currency: string,
  unitsPerEuro: number,
  decimals: 0 | 2,
  weight: number,
][] = [
  ['AT', 'EUR', 1, 2, 4],
  ['AU', 'AUD', 1.7, 2, 6],
  ['BE', 'EUR', 1, 2, 4],
  ['CA', 'CAD', 1.5, 2, 7],
  ['CH', 'CHF', 1, 2, 4],
  ['CZ', 'CZK', 25, 0, 3],
  ['DE', 'EUR', 1, 2, 16],
  ['DK', 'DKK', 7.5, 2, 3],
  ['ES', 'EUR', 1, 2, 8],
  ['FI', 'EUR', 1, 2, 3],
  ['FR', 'EUR', 1, 2, 11],
  ['GB', 'GBP', 0.85, 2, 14],
  ['GR', 'EUR', 1, 2, 2],
  ['HU', 'HUF', 400, 0, 2],
  ['IE', 'EUR', 1, 2, 3],
  ['IT', 'EUR', 1, 2, 8],
  ['JP', 'JPY', 160, 0, 5],
  ['NL', 'EUR', 1, 2, 7],
  ['NO', 'NOK', 11.5, 2, 3],
  ['NZ', 'NZD', 1.9, 2, 2],
  ['PL', 'PLN', 4.3, 2, 6],
  ['PT', 'EUR', 1, 2, 3],
  ['RO', 'RON', 5, 2, 2],
  ['SE', 'SEK', 11, 2, 5],
  ['US', 'USD', 1.1, 2, 18],
];

export const COUNTRIES = ROWS.map(([code, currencyCode, unitsPerEuro, decimals, weight]) => {
  return { code, currencyCode, unitsPerEuro, decimals, weight };
});
export type Country = (typeof COUNTRIES)[number];

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
