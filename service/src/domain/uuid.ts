// Identifiers: RFC 9562 UUIDs of any version, lower case once they are inside. Ids made here are version 7.

declare const brand: unique symbol;
export type Uuid = string & { readonly [brand]: 'Uuid' };

export const UUID_PATTERN = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
/** As they are printed. */
export const PRINTED_UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Sorts before every other id, so that "from this one on" starts at the beginning. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000' as Uuid;
/** Sorts after every other id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Uuid;

export function parseUuid(text: string): Uuid | undefined {
  return UUID_PATTERN.test(text) ? (text.toLowerCase() as Uuid) : undefined;
}

export function newUuid(): Uuid {
  return Bun.randomUUIDv7() as Uuid;
}

/** The digits of a UUID as four numbers of 32 bits. Comparing them word by word gives the order of the texts. */
export type UuidWords = readonly [number, number, number, number];

/** Digit by digit, since this runs for every row and parseInt over slices takes four times as long. */
export function uuidWords(id: Uuid): UuidWords {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code === DASH) continue;
    // The top digit of each word moves into the next one to the left.
    a = (a << 4) | (b >>> 28);
    b = (b << 4) | (c >>> 28);
    c = (c << 4) | (d >>> 28);
    d = (d << 4) | (code < LETTER_A ? code - DIGIT_0 : code - LETTER_A + 10);
  }
  return [a >>> 0, b >>> 0, c >>> 0, d >>> 0];
}

const DASH = 0x2d;
const DIGIT_0 = 0x30;
const LETTER_A = 0x61;
