// A thousand and a half of the import files that `npm run test:hostile` tries by the ten thousand.

import { expect, test } from 'bun:test';
import { BOMBS } from './bombs.ts';
import { attackCommand } from './command-attack.ts';
import { attackWithFiles } from './file-attack.ts';
import { TEST_SEED } from './seed.ts';

test.each(['catalogue', 'transactions'] as const)(
  'mutated %s files: all or nothing, in time, the place named, no prototype changed',
  async (kind) => {
    const { files, imported, invalid, refused } = await attackWithFiles(kind, 750, TEST_SEED);
    expect({ files, told: imported + invalid + refused }).toEqual({ files: 750, told: 750 });
    expect(Math.min(imported, invalid, refused)).toBeGreaterThan(0);
  },
);

test('through the command: no file takes more than 300 MB, though some unpack to hundreds and hold millions of values', async () => {
  const { files, codes } = await attackCommand(4, TEST_SEED);
  expect(files).toBe(4 + BOMBS.length);
  expect(codes.get(2)).toBeGreaterThanOrEqual(BOMBS.length);
}, 240_000);
