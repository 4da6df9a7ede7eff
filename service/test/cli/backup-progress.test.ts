// Progress of a backup on a terminal.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';

const SOURCE = join(import.meta.dir, '../../src/cli/commands/running/backup-progress.ts');

test('a backup shows how much it has written although its own thread is blocked, and removes the line at the end', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'offerbook.db'), Buffer.alloc(1_500_000));
  const program = `import { showBackupProgress } from ${JSON.stringify(SOURCE)};
const end = showBackupProgress({ folder: ${JSON.stringify(folder)}, bytesMax: 4_000_000 });
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
process.stderr.write('|');
end();
process.stderr.write('done\\n');`;
  let screen = '';
  const command = Bun.spawn([process.execPath, '-e', program], {
    terminal: {
      data: (_, bytes) => {
        screen += new TextDecoder().decode(bytes);
      },
    },
  });
  expect(await command.exited).toBe(0);
  const line = '\r\x1b[K1.5 of at most 4.0 MB written';
  expect(screen).toStartWith(line);
  expect(screen.replaceAll(line, '')).toBe('|\r\x1b[Kdone\r\n');
});
