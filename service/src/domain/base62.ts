// Numbers as texts of the letters and digits that every URL, database and affiliate network lets through. The order of
// texts of one length is the order of the numbers.

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The last `length` digits of a whole number that is not negative. */
export function printBase62(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    const higher = Math.floor(rest / 62);
    // Not by %, which takes twice the time for numbers beyond 32 bits.
    text = BASE62[rest - higher * 62] + text;
    rest = higher;
  }
  return text;
}

/** For texts of these characters only, and no more of them than a number can hold. */
export function parseBase62(text: string): number {
  let value = 0;
  for (const character of text) value = value * 62 + BASE62.indexOf(character);
  return value;
}
