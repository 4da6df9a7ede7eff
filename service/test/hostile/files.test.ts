// A few hundred mutated import files; `npm run test:hostile` tests tens of thousands.

import { expect, test } from 'bun:test';
import { BOMBS } from './bombs.ts';
import { attackCommand } from './command-attack.ts';
import { attackWithFiles } from './file-attack.ts';
import { TEST_SEED } from './seed.ts';

test.each(['catalogue', 'transactions'] as const)(
  'mutated %s files are imported completely or not at all, in time, with the location of each problem, and do not change any prototype',
  async (kind) => {
    const { files, imported, invalid, refused } = await attackWithFiles(kind, 300, TEST_SEED);
    expect({ files, told: imported + invalid + refused }).toEqual({ files: 300, told: 300 });
    expect(Math.min(imported, invalid, refused)).toBeGreaterThan(0);
  },
);

/** `npm run test:hostile` tests all of them. */
const BOMBS_TRIED = BOMBS.filter(({ name }) =>
  ['lists in a field that is not read', 'columns without end', 'names that are all different'].includes(name),
);

test('the import command uses at most 300 MB of memory for any file, even if it unpacks to hundreds of megabytes and millions of values', async () => {
  const { files, codes } = await attackCommand(2, TEST_SEED, BOMBS_TRIED);
  expect(files).toBe(2 + BOMBS_TRIED.length);
  expect(codes.get(2)).toBeGreaterThanOrEqual(BOMBS_TRIED.length);
}, 240_000);
