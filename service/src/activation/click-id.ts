// Click ids: sent to the shop in the link, and returned by the affiliate network with the sale. An id contains its
// organisation and time, so a sale can be attributed even if the stored click is lost. It ends with a MAC under a key that
// only the database holds, so it cannot be forged.
//
//   7 characters   creation time in milliseconds since 1970, sufficient until 2081
//   3 characters   internal id of the organisation
//   5 characters   counter within the millisecond, starting at a random number
//   7 characters   truncated HMAC-SHA-256 of the characters before
//
// All characters are base62. The length, 22, is the shortest sub-id limit among the networks. Ids sort by time.

import { randomInt, timingSafeEqual } from 'node:crypto';
import { parseBase62, printBase62 } from '../domain/base62.ts';
import { CLICK_TIME_LENGTH, type ClickId } from '../domain/click.ts';

const [TIME, ORGANISATION, NUMBER, MAC] = [CLICK_TIME_LENGTH, 3, 5, 7];
const NUMBERS = 62 ** NUMBER;
const SHAPE = /^[0-9A-Za-z]{22}$/;
/** Number of HMAC bytes used: the most that fit into a safe integer. */
const MAC_BYTES = 6;
/** Number of base64 characters used of a digest. The full digest would double the size of the taps table. */
const DIGEST_LENGTH = 22;

/** The data contained in a click id. */
export interface ClickOrigin {
  readonly orgId: number;
  readonly atMs: number;
}

export class ClickIds {
  /** Initialised with the key. Every use works on a copy, which is cheaper than a new HMAC. */
  readonly #hmac: Bun.CryptoHasher;
  #lastMs = Number.NaN;
  #number = 0;

  constructor(key: string) {
    this.#hmac = new Bun.CryptoHasher('sha256', key);
  }

  /** Unique within a process. Across processes, the counter starts at one of 900 million random values per millisecond. */
  make(orgId: number, nowMs: number): ClickId {
    this.#number = nowMs === this.#lastMs ? (this.#number + 1) % NUMBERS : randomInt(NUMBERS);
    this.#lastMs = nowMs;
    const text = inDigits(nowMs, TIME) + inDigits(orgId, ORGANISATION) + printBase62(this.#number, NUMBER);
    return (text + this.#mac(text)) as ClickId;
  }

  /** Returns undefined unless the id was created with this key. */
  parse(text: string): (ClickOrigin & { readonly id: ClickId }) | undefined {
    if (!SHAPE.test(text)) return undefined;
    const signed = text.slice(0, -MAC);
    if (!timingSafeEqual(Buffer.from(this.#mac(signed)), Buffer.from(text.slice(-MAC)))) return undefined;
    return {
      id: text as ClickId,
      orgId: parseBase62(text.slice(TIME, TIME + ORGANISATION)),
      atMs: parseBase62(text.slice(0, TIME)),
    };
  }

  /** Returns a keyed digest, at least 128 bits long. Without the key, the string cannot be guessed by trial. */
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
