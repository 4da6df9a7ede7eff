// Country codes, ISO 3166-1 alpha-2. Any two letters are taken, because codes come and go. Two are refused, because
// people write them for another: nobody who asks for "GB" would find an offer under "UK".

const MISTAKEN: Readonly<Record<string, { code: string; country: string }>> = {
  UK: { code: 'GB', country: 'the United Kingdom' },
  EL: { code: 'GR', country: 'Greece' },
};

/** Two capital letters, and not one of the mistaken ones. */
export const COUNTRY_CODE = new RegExp(`^(?!(?:${Object.keys(MISTAKEN).join('|')})$)[A-Z]{2}$`);

/** What to say of a code that stands for another; undefined for every other text. */
export function mistakenCountry(code: string): string | undefined {
  if (!Object.hasOwn(MISTAKEN, code)) return undefined;
  const meant = MISTAKEN[code];
  return `must be ${meant?.code}, which is the code of ${meant?.country} (ISO 3166-1 alpha-2)`;
}
