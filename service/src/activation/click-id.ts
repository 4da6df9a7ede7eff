// The id of a click: what stands in the link to a shop, and comes back from the affiliate network with the sale. It tells
// its organisation and its moment by itself, so that a sale finds its owner even if the record of the click is lost, and
// it cannot be made up: its end is a MAC under a key that only the database holds.
//
//   7 characters   when the click was made: milliseconds since 1970, good until 2081
//   3 characters   the number of the organisation
//   5 characters   which of the clicks of that millisecond it is, from a random beginning
//   7 characters   HMAC-SHA-256 of everything before
//
// Letters and digits only, and no more than the shortest sub-id that networks allow. Ids sort by time.

import { randomInt, timingSafeEqual } from 'node:crypto';
import { parseBase62, printBase62 } from '../domain/base62.ts';
import { CLICK_TIME_LENGTH, type ClickId } from '../domain/click.ts';

const [TIME, ORGANISATION, NUMBER, MAC] = [CLICK_TIME_LENGTH, 3, 5, 7];
const NUMBERS = 62 ** NUMBER;
const SHAPE = /^[0-9A-Za-z]{22}$/;
/** Of the MAC, as many bytes as a number holds exactly. */
const MAC_BYTES = 6;
/** Of a digest in base64; the whole one would make the table of taps twice as large. */
const DIGEST_LENGTH = 22;

/** What an id tells without its record. */
export interface ClickOrigin {
  readonly orgId: number;
  readonly atMs: number;
}

export class ClickIds {
  /** Has taken in the key. What is signed goes into a copy, which takes a quarter of the time of a new one. */
  readonly #hmac: Bun.CryptoHasher;
  #lastMs = Number.NaN;
  #number = 0;

  constructor(key: string) {
    this.#hmac = new Bun.CryptoHasher('sha256', key);
  }

  /** Never the same twice in one process. Two processes draw their numbers from 900 million in each millisecond. */
  make(orgId: number, nowMs: number): ClickId {
    this.#number = nowMs === this.#lastMs ? (this.#number + 1) % NUMBERS : randomInt(NUMBERS);
    this.#lastMs = nowMs;
    const text = inDigits(nowMs, TIME) + inDigits(orgId, ORGANISATION) + printBase62(this.#number, NUMBER);
    return (text + this.#mac(text)) as ClickId;
  }

  /** Undefined for what this key has not made. */
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

  /** Tells texts apart without giving them away: nobody without the key can try out what was digested. 128 bits are enough. */
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
    throw new RangeError(`${value} has no place in the id of a click`);
  return printBase62(value, length);
}
