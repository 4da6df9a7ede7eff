// The first steps on the pages of networks, run as written against the sandbox's fake networks. The test edits the source files
// as the pages ask for, pastes the secrets, and adds --since, because a network's rate makes a first pull take minutes.

import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNTS, NETWORKS } from '@offerbook/sandbox/networks/accounts.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { recentDay, ServedNetworks } from '../pull/served-networks.ts';
import { COMMAND, runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { blocksOf } from '../support/documents.ts';
import { lacks } from '../support/programs.ts';

function commandsOf(network: string): string[] {
  const blocks = blocksOf(`docs/feeds/${network}.md`).filter(({ kind }) => kind === 'pull');
  return blocks.flatMap(({ code }) => code.trim().split(/\n */));
}

test.skipIf(lacks('bash'))(
  'the first steps on the page of every network import its sales and its catalogue',
  async () => {
    // Awin needs a request for each programme, and allows few.
    await using networks = new ServedNetworks({ programmes: 3 });
    const cwd = temporaryFolder();
    const database = `sqlite:${join(cwd, 'pulled.db')}`;
    const since = `case "$*" in *--check*|*status*) ;; pull*) set -- "$@" --since ${recentDay()};; esac`;
    writeFileSync(join(cwd, 'offerbook'), `#!/bin/sh\n${since}\nexec ${COMMAND} "$@"\n`, { mode: 0o755 });
    const done = new Set<string>();
    for (const network of NETWORKS) {
      const secrets: string[] = Object.values(ACCOUNTS[network].credentials);
      for (const command of commandsOf(network)) {
        // One operator follows all five pages. A pull sends the request of a check, too.
        if (done.has(command) || (network !== 'awin' && command.includes('--check'))) continue;
        done.add(command);
        const { code, stderr } = await runProgram(['bash', '-euo', 'pipefail', '-c', command], {
          cwd,
          stdin: command.includes('cat >') ? `${secrets.shift()}\n` : '',
          env: { ...process.env, PATH: `${cwd}:${process.env.PATH}`, OFFERBOOK_DATABASE_URL: database },
        });
        // Notes, such as corrections of sales that the short history does not contain.
        const problems = stderr.replaceAll(/^.* Left out: .*\n/gm, '');
        expect({ command, code, problems }).toEqual({ command, code: 0, problems: '' });
        if (!command.includes('--example')) continue;
        const path = join(cwd, `${network}.json`);
        const example = JSON.parse(readFileSync(path, 'utf8'));
        writeFileSync(path, JSON.stringify({ ...example, ...networks.settingsOf(network) }));
      }
      expect([network, secrets]).toEqual([network, []]);
    }
    await using stores = closing(await openStores(database, COMMAND_OPTIONS));
    const streams = await stores.pulls.list();
    expect(streams.filter(({ error }) => error !== null)).toEqual([]);
    const added = NETWORKS.filter((network) =>
      streams.some(({ source, counts }) => source.startsWith(`${network}:`) && counts.added > 0),
    );
    expect(added).toEqual([...NETWORKS]);
    const catalogues = streams.filter(({ stream }) => stream === 'catalogue');
    expect(catalogues.map(({ counts }) => counts.added)).toEqual(NETWORKS.map(() => 3));
    expect(networks.answered.filter(({ status }) => status !== 200)).toEqual([]);
  },
  180_000,
);
