// The commands of docs/operations/upgrading.md, run as written on databases of 0.1.0.

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase, sqlitePath } from '../../src/storage/open-database.ts';
import { closing } from '../../src/storage/open-once.ts';
import { COMMAND_OPTIONS } from '../../src/storage/open-stores.ts';
import { loadRelease } from '../fixtures/load-release.ts';
import { COMMAND, cleanEnvironment, runProgram } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';

const PAGE = readFileSync(join(import.meta.dir, '../../../docs/operations/upgrading.md'), 'utf8');

/** The commands of a section, in a language. */
function commandsOf(section: string, language: 'sh' | 'sql'): string[] {
  const text = PAGE.split(/^## /m).find((each) => each.startsWith(section)) ?? '';
  return [...text.matchAll(new RegExp(`^ *\`\`\`${language}(?: upgrade)?\\n(.*?)^ *\`\`\`$`, 'gms'))].map(
    ([, code = '']) => code,
  );
}

async function versionIn(url: string): Promise<unknown> {
  await using database = closing(openDatabase(url, COMMAND_OPTIONS));
  return (await database.all<{ version: number }>('SELECT version FROM schema_version'))[0]?.version;
}

test.each(DATABASES)(
  'on $name, every command of the page works on 0.1.0: upgrade, go back, and upgrade again',
  async (database) => {
    const { url } = await loadRelease(database, 'v0.1.0');
    const path = sqlitePath(url);
    const folder = path === undefined ? temporaryFolder() : dirname(path);
    if (path !== undefined)
      for (const end of ['', '-activations', '-walks'])
        renameSync(`${path}${end}`, join(folder, `offerbook.db${end}`));
    const ownUrl = path === undefined ? url : `sqlite:${join(folder, 'offerbook.db')}`;

    async function sh(section: string, index: number): Promise<void> {
      const command = commandsOf(section, 'sh')[index] ?? 'exit 9';
      const env = { ...cleanEnvironment(), PATH: `${dirname(COMMAND)}:${process.env.PATH}` };
      const { code, stdout, stderr } = await runProgram(['bash', '-euc', command], {
        cwd: folder,
        env: { ...env, OFFERBOOK_DATABASE_URL: ownUrl },
      });
      if (code !== 0) throw new Error(`${command}: ${stdout}${stderr}`);
    }

    async function sql(section: string): Promise<void> {
      if (path !== undefined) return;
      const name = new URL(url).pathname.slice(1);
      const admin = new URL(url);
      admin.pathname = '/postgres';
      await using server = closing(openDatabase(admin.href, COMMAND_OPTIONS));
      const [statements = ''] = commandsOf(section, 'sql');
      for (const statement of statements.trim().split('\n'))
        await server.all(
          statement
            .trim()
            .replaceAll(/\bofferbook\b/g, name)
            .replaceAll(/\w+_upgrade\b/g, `$&_${name}`)
            .replace(/;$/, ''),
        );
    }

    await sql('During');
    await sh('During', 0);
    expect(await versionIn(ownUrl)).toBe(8);
    await sh('After', 0);
    if (path === undefined) await sql('Back');
    else await sh('Back', 0);
    expect(await versionIn(ownUrl)).toBe(7);
    await sql('During');
    await sh('During', 0);
    expect(await versionIn(ownUrl)).toBe(8);
    if (path === undefined) await sql('After');
    else {
      await sh('After', 1);
      expect(readdirSync(folder).filter((name) => name.includes('before'))).toEqual([]);
    }
  },
);
