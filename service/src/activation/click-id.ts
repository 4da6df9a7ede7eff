// Click ids: sent to the shop in the link, and returned by the affiliate network with the sale. An id encodes its
// organisation and creation time, so a sale can be attributed even if the stored click is lost. It ends with a MAC whose key
// is stored only in the database, so it cannot be forged.
//
//   7 characters   creation time in milliseconds since 1970, sufficient until 2081
//   3 characters   internal organisation id
//   5 characters   counter within the millisecond, starting at a random number
//   7 characters   truncated HMAC-SHA-256 of the preceding characters
//
// All characters are base62. Ids are 22 characters long, because the strictest network limits sub-ids to that length. Ids sort
// by creation time.

import { randomInt, timingSafeEqual } from 'node:crypto';
import { parseBase62, printBase62 } from '../domain/base62.ts';
import { CLICK_TIME_LENGTH, type ClickId } from '../domain/click.ts';

const [TIME, ORGANISATION, NUMBER, MAC] = [CLICK_TIME_LENGTH, 3, 5, 7];
const NUMBERS = 62 ** NUMBER;
const SHAPE = /^[0-9A-Za-z]{22}$/;
/** Number of HMAC bytes in an id: as many as fit in a safe integer. */
const MAC_BYTES = 6;
/** Length of a truncated digest, in Base64 characters. The full digest would double the size of the taps table. */
const DIGEST_LENGTH = 22;

/** A parsed click id. */
export type ClickOrigin = NonNullable<ReturnType<ClickIds['parse']>>;

export class ClickIds {
  /** HMAC initialised with the key. Copying it for each use is cheaper than creating a new HMAC. */
  readonly #hmac: Bun.CryptoHasher;
  #lastMs = Number.NaN;
  #number = 0;

  constructor(key: string) {
    this.#hmac = new Bun.CryptoHasher('sha256', key);
  }

  /** Unique within a process. Other processes start each millisecond at one of 900 million random values. */
  make(orgId: number, nowMs: number): ClickId {
    this.#number = nowMs === this.#lastMs ? (this.#number + 1) % NUMBERS : randomInt(NUMBERS);
    this.#lastMs = nowMs;
    const text = inDigits(nowMs, TIME) + inDigits(orgId, ORGANISATION) + printBase62(this.#number, NUMBER);
    return (text + this.#mac(text)) as ClickId;
  }

  /** Returns undefined unless the id was created with this key. */
  parse(text: string) {
    if (!SHAPE.test(text)) return undefined;
    const signed = text.slice(0, -MAC);
    if (!timingSafeEqual(Buffer.from(this.#mac(signed)), Buffer.from(text.slice(-MAC)))) return undefined;
    return {
      id: text as ClickId,
      orgId: parseBase62(text.slice(TIME, TIME + ORGANISATION)),
      atMs: parseBase62(text.slice(0, TIME)),
    };
  }

  /** Returns a keyed digest of at least 128 bits. The input cannot be found by brute force without the key. */
  digest(text: string): string {
    return this.#hmac.copy().update(text).digest('base64').slice(0, DIGEST_LENGTH);
  }

  #mac(text: string): string {
    const digest = this.#hmac.copy().update(text).digest();
    return printBase62(digest.readUIntBE(0, MAC_BYTES), MAC);
  }
}

function inDigits(value: number, length: number): string {
  if (!(value >= 0 && value < 62 ** length))
    throw new RangeError(`${value} does not fit into ${length} characters of a click id`);
  return printBase62(value, length);
}
