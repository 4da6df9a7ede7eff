// Number of decimals that ISO 4217 specifies for each currency. Intl reports the decimals in everyday use instead: none for the
// Albanian lek and the Serbian dinar, which officially have two.

const NO_DECIMALS = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ');
const THREE_DECIMALS = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');
const FOUR_DECIMALS = ['CLF', 'UYW'];

export function minorUnits(currencyCode: string): number {
  if (NO_DECIMALS.includes(currencyCode)) return 0;
  if (THREE_DECIMALS.includes(currencyCode)) return 3;
  return FOUR_DECIMALS.includes(currencyCode) ? 4 : 2;
}
