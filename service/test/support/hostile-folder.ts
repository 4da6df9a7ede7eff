// A folder that tries to run its own code in the command started there, and to change the command's settings.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './databases.ts';

/** Variables with which Bun runs code from the current folder, or anything other than Offerbook. */
export const HOSTILE_VARIABLES = {
  BUN_OPTIONS: '--preload ./evil.ts',
  BUN_INSPECT_PRELOAD: './evil.ts',
  BUN_BE_BUN: '1',
};

export function hostileFolder(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./evil.ts"]\n');
  writeFileSync(join(folder, 'evil.ts'), 'process.stdout.write("evil\\n");');
  for (const name of ['.env', '.env.local', '.env.production', '.env.development']) {
    writeFileSync(join(folder, name), 'OFFERBOOK_DATABASE_URL=sqlite:./elsewhere.db\n');
  }
  return folder;
}
