// The progress bar on a terminal.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { progressLines } from '../../src/cli/progress-bar.ts';

const SOURCE = join(import.meta.dir, '../../src/cli/progress-bar.ts');

/** Work that reports its progress at once, and again after 1.1 s. */
const PROGRAM = `import { withProgressBar } from ${JSON.stringify(SOURCE)};
await withProgressBar(async (show) => {
  show({ rows: 1_000_000, total: 4_000_000 });
  await Bun.sleep(1_100);
  show({ rows: 2_000_000, total: 4_000_000 });
});
process.stderr.write('done\\n');`;

test.concurrent.each([
  [80, '[###############---------------] 50% 2,000,000 rows'],
  [40, '[#########---------] 50% 2,000,000 rows'],
  [12, '50% 2,000,0'],
])(
  'a progress bar appears after a second, fits a terminal of %p columns and is removed at the end',
  async (cols, bar) => {
    let screen = '';
    const command = Bun.spawn([process.execPath, '-e', PROGRAM], {
      terminal: {
        cols,
        data: (_, bytes) => {
          screen += new TextDecoder().decode(bytes);
        },
      },
    });
    expect(await command.exited).toBe(0);
    expect(screen).toBe(`\r\x1b[K${bar}\r\x1b[Kdone\r\n`);
  },
);

test.concurrent('a progress bar is not shown if stderr is not a terminal', async () => {
  const command = Bun.spawn([process.execPath, '-e', PROGRAM], { stderr: 'pipe' });
  expect(await new Response(command.stderr).text()).toBe('done\n');
});

test('progress for a log file is at most one line a minute, and none in the first', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const show = progressLines(
    (line) => lines.push(line),
    () => nowMs,
  );
  for (const second of [0, 59, 60, 61, 119, 120]) {
    nowMs = second * 1_000;
    show(`second ${second}`);
  }
  expect(lines).toEqual(['second 60', 'second 120']);
});
