// Country codes, ISO 3166-1 alpha-2. Any two letters are valid, because the list of codes changes, except for two that are
// common mistakes: a search for "GB" would never find an offer stored under "UK".

const MISTAKEN: Readonly<Record<string, { code: string; country: string }>> = {
  UK: { code: 'GB', country: 'the United Kingdom' },
  EL: { code: 'GR', country: 'Greece' },
};

/** Two capital letters, except for the common mistakes. */
export const COUNTRY_CODE = new RegExp(`^(?!(?:${Object.keys(MISTAKEN).join('|')})$)[A-Z]{2}$`);

/** Returns the message for a common mistake; undefined for any other string. */
export function mistakenCountry(code: string): string | undefined {
  if (!Object.hasOwn(MISTAKEN, code)) return undefined;
  const meant = MISTAKEN[code];
  return `must be ${meant?.code}, which is the code of ${meant?.country} (ISO 3166-1 alpha-2)`;
}
