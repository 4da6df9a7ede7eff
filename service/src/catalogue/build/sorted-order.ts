// Sorts hundreds of thousands of items without stalling the event loop: short runs first, then merges that
// pause. Array.prototype.sort would hold everything up for a good part of a second.

import type { Pacer } from './pacer.ts';

const RUN_LENGTH = 512;

/** The numbers 0 … count − 1 in the order that `compare` gives them; equal ones keep their order. */
export async function sortedOrder(
  count: number,
  compare: (a: number, b: number) => number,
  pacer: Pacer,
): Promise<Uint32Array> {
  let sorted = new Uint32Array(count);
  await pacer.repeat(count, (index) => {
    sorted[index] = index;
  });
  for (let begin = 0; begin < count; begin += RUN_LENGTH) {
    if (pacer.due) await pacer.pause();
    sorted.subarray(begin, begin + RUN_LENGTH).sort(compare);
  }
  let merged = new Uint32Array(count);
  for (let runLength = RUN_LENGTH; runLength < count; runLength *= 2) {
    for (let begin = 0; begin < count; begin += 2 * runLength) {
      const middle = Math.min(begin + runLength, count);
      const end = Math.min(middle + runLength, count);
      await mergeRuns(sorted, merged, { begin, middle, end }, compare, pacer);
    }
    [sorted, merged] = [merged, sorted];
  }
  return sorted;
}

async function mergeRuns(
  from: Uint32Array,
  to: Uint32Array,
  { begin, middle, end }: { begin: number; middle: number; end: number },
  compare: (a: number, b: number) => number,
  pacer: Pacer,
): Promise<void> {
  let left = begin;
  let right = middle;
  await pacer.repeat(end - begin, (offset) => {
    const takeLeft =
      right === end || (left < middle && compare(from[left] as number, from[right] as number) <= 0);
    to[begin + offset] = from[takeLeft ? left++ : right++] as number;
  });
}
