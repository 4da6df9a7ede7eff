// Base62 encodes numbers as letters and digits, which every URL, database and affiliate network accepts. Strings of equal
// length sort in the same order as the numbers they encode.

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns the last `length` base62 digits of a non-negative integer. */
export function printBase62(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    const higher = Math.floor(rest / 62);
    // Avoids %, which is slower for numbers above 32 bits.
    text = BASE62[rest - higher * 62] + text;
    rest = higher;
  }
  return text;
}

/** Expects base62 characters and a value up to Number.MAX_SAFE_INTEGER. */
export function parseBase62(text: string): number {
  let value = 0;
  for (const character of text) value = value * 62 + BASE62.indexOf(character);
  return value;
}
