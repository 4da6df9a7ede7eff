// Progress on a terminal: the bar of an import, and the line of a backup.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';
import { screenOf } from '../support/terminal.ts';

const SOURCE = join(import.meta.dir, '../../src/cli');

/** Work that reports its progress just before the bar may appear, when it may appear, and just before it may be drawn again. */
const PROGRAM = `import { withProgressBar } from '${SOURCE}/progress-bar.ts';
let nowMs = 500;
performance.now = () => nowMs;
await withProgressBar(async (show) => {
  nowMs = 1_499;
  show(1_000_000, 4_000_000);
  nowMs = 1_500;
  show(2_000_000, 4_000_000);
  nowMs = 1_599;
  show(3_000_000, 4_000_000);
});
process.stderr.write('done\\n');`;

test.concurrent.each([
  [80, '[###############---------------] 50% 2,000,000 rows'],
  [40, '[#########---------] 50% 2,000,000 rows'],
  [12, '50% 2,000,0'],
])(
  'a progress bar appears after a second, fits a terminal of %p columns and is removed at the end',
  async (cols, bar) => {
    const screen = await screenOf([process.execPath, '-e', PROGRAM], cols);
    expect(screen).toBe(`\r\x1b[K${bar}\r\x1b[Kdone\r\n`);
  },
);

test.concurrent('a progress bar is not shown if stderr is not a terminal', async () => {
  const command = Bun.spawn([process.execPath, '-e', PROGRAM], { stderr: 'pipe' });
  expect(await new Response(command.stderr).text()).toBe('done\n');
});

test('a backup shows how much it has written although its own thread is blocked, and removes the line at the end', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'offerbook.db'), Buffer.alloc(1_500_000));
  const seen = join(folder, 'seen');
  const program = `import { existsSync } from 'node:fs';
import { showBackupProgress } from '${SOURCE}/commands/running/backup.ts';
const end = showBackupProgress({ folder: ${JSON.stringify(folder)}, bytesMax: 4_000_000 });
while (!existsSync(${JSON.stringify(seen)})) Bun.sleepSync(10);
process.stderr.write('|');
end();
process.stderr.write('done\\n');`;
  const screen = await screenOf([process.execPath, '-e', program], 80, process.env, () =>
    writeFileSync(seen, ''),
  );
  const line = '\r\x1b[K1.5 of at most 4.0 MB written';
  expect(screen).toStartWith(line);
  expect(screen.replaceAll(line, '')).toBe('|\r\x1b[Kdone\r\n');
});
