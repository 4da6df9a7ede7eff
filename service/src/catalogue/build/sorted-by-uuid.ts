// Sorts item numbers by UUID. Sorts 64-bit integers first, because a sort without a comparison function is many times as fast.

import { UUID_WORDS, UuidTable } from '../tables/uuid-table.ts';

/** `idWords` contains four words per item. Returns the numbers of the items in the order of their UUIDs. */
export function sortedByUuid(idWords: Uint32Array): Uint32Array {
  const ids = new UuidTable(idWords);
  // The first word of the id is the upper half of each key, and the item number is the lower half.
  const keys = new BigUint64Array(ids.length);
  const halves = new Uint32Array(keys.buffer);
  for (let item = 0; item < ids.length; item++) {
    halves[2 * item + LOWER] = item;
    halves[2 * item + UPPER] = idWords[item * UUID_WORDS] as number;
  }
  keys.sort();
  const items = new Uint32Array(ids.length);
  let runBegin = 0;
  for (let index = 0; index < items.length; index++) {
    items[index] = halves[2 * index + LOWER] as number;
    if (halves[2 * index + UPPER] === halves[2 * (index + 1) + UPPER]) continue;
    // Items with the same first word are sorted by the other words.
    if (index > runBegin) items.subarray(runBegin, index + 1).sort((a, b) => ids.compare(a, b));
    runBegin = index + 1;
  }
  return items;
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const [LOWER, UPPER] = isLittleEndian ? [0, 1] : [1, 0];
