// Imports bombs with the real command, as a process, and measures its peak memory.

import { join } from 'node:path';
import { offerbook, spawnOfferbook } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { peakMb } from '../../support/resident-memory.ts';
import type { Run } from '../report/run.ts';
import { BOMBS, writeBomb } from './bombs.ts';

/** Memory limit for an import of any file: Bun, a batch of rows, and several copies of the longest row. */
const MEGABYTES_MAX = 300;

export async function attackWithBombs(run: Run): Promise<void> {
  const folder = temporaryFolder();
  const path = join(folder, 'file');
  const database = ['--database', `sqlite:${join(folder, 'hostile.db')}`];
  await offerbook(['orgs', 'create', 'acme', ...database]);
  let peakMegabytes = 0;
  for (const bomb of run.choose('bomb', BOMBS)) {
    await writeBomb(bomb, path);
    const org = bomb.kind === 'transactions' ? ['--org', 'acme'] : [];
    const child = spawnOfferbook(['import', bomb.kind, path, ...org, ...database]);
    void new Response(child.stdout).text();
    let megabytes = 0;
    // Not resourceUsage(), which includes the memory of this process before it has started the command.
    const poll = setInterval(() => {
      megabytes = Math.max(megabytes, peakMb(child.pid));
    }, 10);
    const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    clearInterval(poll);
    peakMegabytes = Math.max(peakMegabytes, megabytes);
    if (code !== 2 || !bomb.complaint.test(stderr))
      throw new Error(`${bomb.kind}, ${bomb.name}: exit code ${code}, ${stderr}`);
    if (megabytes > MEGABYTES_MAX) throw new Error(`${bomb.kind}, ${bomb.name}: ${megabytes} MB of memory`);
  }
  const exported = await Promise.all([
    offerbook(['export', 'catalogue', ...database]),
    offerbook(['export', 'transactions', '--org', 'acme', ...database]),
  ]);
  if (exported.some(({ stdout }) => stdout !== '')) throw new Error('something was imported');
  run.count('bombs, peak memory in MB', peakMegabytes);
}
