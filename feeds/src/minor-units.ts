// Decimals of currencies by ISO 4217. Intl is not used, because it returns the number of decimals in everyday use: none for
// the Albanian lek and the Serbian dinar, which officially have two.

const DECIMALS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const EXCEPTIONS = new Map(
  Object.entries(DECIMALS).flatMap(([decimals, codes]) =>
    codes.split(' ').map((code) => [code, Number(decimals)] as const),
  ),
);

export function minorUnits(currencyCode: string): number {
  return EXCEPTIONS.get(currencyCode) ?? 2;
}
