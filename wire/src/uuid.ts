// Identifiers: RFC 9562 UUIDs of any version, converted to lower case. New ids are version 7.

declare const brand: unique symbol;
export type Uuid = string & { readonly [brand]: 'Uuid' };

export const UUID_PATTERN = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
/** Lower case only. */
export const CANONICAL_UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Sorts before every other id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000' as Uuid;
/** Sorts after every other id. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff' as Uuid;

export function parseUuid(text: string): Uuid | undefined {
  return UUID_PATTERN.test(text) ? (text.toLowerCase() as Uuid) : undefined;
}

export function newUuid(): Uuid {
  return Bun.randomUUIDv7() as Uuid;
}

/**
 * A UUID as four 32-bit numbers. Comparing them in order gives the same result as comparing the strings. Runs for every row, so it
 * converts digit by digit; parseInt on slices is slower.
 */
export function uuidWords(id: Uuid): readonly [number, number, number, number] {
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code === DASH) continue;
    // Shift all words left by one digit. The top digit of each word moves into the previous word.
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
