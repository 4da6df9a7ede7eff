// Imports hostile files with the real command, as a process, and measures its peak memory.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Finished, offerbook, spawnOfferbook } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import type { Run } from '../report/run.ts';
import { anyFile, type FileKind } from './any-file.ts';
import { BOMBS, writeBomb } from './bombs.ts';

interface Measured extends Finished {
  readonly peakMegabytes: number;
}

/** Memory limit for an import of any file: Bun, a batch of rows, and several copies of the longest row. */
const MEGABYTES_MAX = 300;

export async function attackCommand(run: Run): Promise<void> {
  const { seed } = run;
  const bombs = run.choose('bomb', BOMBS, ({ name }) => name);
  const folder = temporaryFolder();
  const database = `sqlite:${join(folder, 'hostile.db')}`;
  await offerbook(['orgs', 'create', 'acme', '--database', database]);
  let peakMegabytes = 0;
  const path = join(folder, 'file');

  async function importFile(kind: FileKind, ...more: readonly string[]): Promise<Finished> {
    const org = kind === 'transactions' ? ['--org', 'acme'] : [];
    const done = await measure(['import', kind, path, ...org, ...more, '--database', database]);
    run.count(`import commands with exit code ${done.code}`);
    peakMegabytes = Math.max(peakMegabytes, done.peakMegabytes);
    if (![0, 2, 3].includes(done.code)) throw new Error(`exit code ${done.code}: ${done.stderr}`);
    if (done.peakMegabytes > MEGABYTES_MAX) throw new Error(`${done.peakMegabytes} MB of memory`);
    return done;
  }

  let before = await exportAll(database);
  for (const kind of ['catalogue', 'transactions'] as const) {
    const files = fc.sample(anyFile(kind), { numRuns: run.number('commands') / 2, seed });
    for (const [index, { bytes }] of files.entries()) {
      writeFileSync(path, bytes);
      const { code } = await importFile(kind, ...(index % 2 === 0 ? [] : ['--skip-invalid']));
      const after = await exportAll(database);
      if (code !== 0 && after !== before) throw new Error('something has changed');
      before = after;
    }
  }
  for (const bomb of bombs) {
    await writeBomb(bomb, path);
    const { code, stderr } = await importFile(bomb.kind);
    if (code !== 2 || !bomb.complaint.test(stderr))
      throw new Error(`${bomb.kind}, ${bomb.name}: exit code ${code}, ${stderr}`);
  }
  if ((await exportAll(database)) !== before) throw new Error('something has changed');
  run.count('import commands, peak memory in MB', peakMegabytes);
}

async function exportAll(database: string): Promise<string> {
  const texts = await Promise.all([
    offerbook(['export', 'catalogue', '--database', database]),
    offerbook(['export', 'transactions', '--org', 'acme', '--database', database]),
  ]);
  return texts.map(({ stdout }) => stdout).join('');
}

async function measure(args: readonly string[]): Promise<Measured> {
  const child = spawnOfferbook(args);
  let peakMegabytes = 0;
  const poll = setInterval(() => {
    peakMegabytes = Math.max(peakMegabytes, readPeakMegabytes(child.pid));
  }, 10);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearInterval(poll);
  return { stdout, stderr, code, peakMegabytes };
}

/** Linux records the peak, so polling is enough. */
function readPeakMegabytes(pid: number): number {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Math.round(Number(peak?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
