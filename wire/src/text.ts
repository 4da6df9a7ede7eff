// Rules for valid strings. Separate from the schemas, so that threads that never run an import do not load them.

/** 1,000 transactions with two strings of this length fit into one database value, even if every character is escaped. */
export const TEXT_LENGTH_MAX = 65_536;

/** Size limits for passback values, in UTF-8 bytes. Clicks must be small, because anyone can create them. */
export const PASSBACK_UID_BYTES_MAX = 255;
export const PASSBACK_DATA_BYTES_MAX = 1_024;

/** Returns what is wrong with a passback value, for a message that starts with the name of the parameter or field. */
export function passbackProblem(value: string, bytesMax: number): string | undefined {
  if (value.length * 3 > bytesMax && new TextEncoder().encode(value).length > bytesMax)
    return `must not be longer than ${bytesMax} bytes in UTF-8`;
  if (/\p{Cc}/u.test(value)) return 'must not contain control characters';
  // Invalid UTF-8 decodes to U+FFFD, which would merge distinct users; reject it even if it was sent on purpose.
  if (value.includes('\uFFFD') || !value.isWellFormed()) return 'must be valid UTF-8';
  return undefined;
}

/** Returns what is wrong with a partner's id of a user in a file. An empty id, which stands for no user, is not a problem. */
export function passbackUidProblem(value: string): string | undefined {
  return textProblem(value) ?? passbackProblem(value, PASSBACK_UID_BYTES_MAX);
}

/** Strict JSON parsers reject a whole page with a lone surrogate, and PostgreSQL parameters cannot contain NUL. */
export function textProblem(value: string): string | undefined {
  if (!value.isWellFormed()) return 'is not valid Unicode';
  return value.includes('\0') ? 'must not contain a NUL character' : undefined;
}

/** Common mistakes: a search for GB would not find an offer stored under UK. */
const CORRECTIONS = new Map([
  ['UK', 'GB, which is the code of the United Kingdom'],
  ['EL', 'GR, which is the code of Greece'],
]);

/** Country codes, ISO 3166-1 alpha-2: any other two capital letters, because the list of codes changes. */
export const COUNTRY_CODE = /^(?!UK|EL)[A-Z]{2}$/;

/** Returns the message for a common mistake; undefined for any other string. */
export function mistakenCountry(code: string): string | undefined {
  const correction = CORRECTIONS.get(code);
  return correction && `must be ${correction} (ISO 3166-1 alpha-2)`;
}
