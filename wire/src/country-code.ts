// Country codes, ISO 3166-1 alpha-2. Accepts any two capital letters, because the list of codes changes. Rejects two common
// mistakes, such as UK: a search for GB would not find an offer stored under UK.

const CORRECTIONS = new Map([
  ['UK', 'GB, which is the code of the United Kingdom'],
  ['EL', 'GR, which is the code of Greece'],
]);

export const COUNTRY_CODE = /^(?!UK|EL)[A-Z]{2}$/;

/** Returns the message for a common mistake; undefined for any other string. */
export function mistakenCountry(code: string): string | undefined {
  const correction = CORRECTIONS.get(code);
  return correction && `must be ${correction} (ISO 3166-1 alpha-2)`;
}
