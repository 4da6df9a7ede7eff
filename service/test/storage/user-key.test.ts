import { expect, test } from 'bun:test';
import { userKey } from '../../src/storage/transactions/user-key.ts';

test('the key of a user never changes, because databases contain it', () => {
  // The first 52 bits of XXH64 with seed 0, plus one.
  expect(['', 'user-8842', 'müller "a\\b"'].map(userKey)).toEqual([
    0xef46db3751d8e + 1,
    151_916_692_796_845,
    3_089_346_321_231_874,
  ]);
});
