// Completion scripts and the manual page, tested in real shells and with groff.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { offerbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { lacks } from '../support/programs.ts';

const folder = temporaryFolder();

/** Typed lines and the completions of their last word; undefined for file names. */
const TYPED: readonly [string, readonly string[] | undefined][] = [
  ['offerbook se', ['serve']],
  ['offerbook imp', ['import', 'imports']],
  ['offerbook import ', ['catalogue', 'links', 'transactions']],
  ['offerbook tokens r', ['revoke', 'rotate']],
  ['offerbook tokens issue --e', ['--expires']],
  ['offerbook serve --workers 2 --page', ['--page-size']],
  // The name of a command in the place of an option's value.
  ['offerbook serve --database import --page', ['--page-size']],
  ['offerbook completion ', ['bash', 'fish', 'zsh']],
  ['offerbook import catalogue --by ', undefined],
  ['offerbook nonsense', undefined],
];

for (const shell of ['bash', 'zsh', 'fish']) {
  const { code, stdout, stderr } = await offerbook(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  writeFileSync(join(folder, shell), stdout);
}
const { stdout: help } = await offerbook(['--help']);
const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);

function run(shell: string, ...args: string[]): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([shell, ...args], { cwd: folder });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.toString();
}

/** The words between two lines of minus signs, for each typed line. */
function offered(stdout: string): string[][] {
  return stdout
    .split('---\n')
    .slice(0, -1)
    .map((part) =>
      part
        .split('\n')
        .filter((word) => word !== '')
        .sort(),
    );
}

test.skipIf(lacks('bash'))('bash completes commands, options and choices, and otherwise file names', () => {
  const asked = TYPED.map(([line]) => {
    const words = line.split(' ');
    return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _offerbook; printf '%s\\n' "\${COMPREPLY[@]}" ---`;
  });
  const stdout = run('bash', '--norc', '-uc', `source ./bash\n${asked.join('\n')}`);
  expect(offered(stdout)).toEqual(TYPED.map(([, words]) => [...(words ?? [])]));
  expect(run('bash', '--norc', '-c', 'source ./bash; complete -p offerbook')).toBe(
    'complete -o default -F _offerbook offerbook\n',
  );
});

test.skipIf(lacks('zsh'))('zsh completes the same words, with descriptions', () => {
  const stubs = `
    compdef() { }
    _files() { matched=() }
    _describe() { matched=("\${(@P)2}") }`;
  const asked = TYPED.map(([line]) => {
    const words = line.split(' ');
    const last = words.at(-1) ?? '';
    // zsh itself omits words that do not start like the typed one.
    return `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _offerbook; for one in $matched; do [[ $one == '${last}'* ]] && print -r -- "\${one%%:*}"; done; print -- ---`;
  });
  const stdout = run('zsh', '-f', '-c', `${stubs}\nsource ./zsh\n${asked.join('\n')}`);
  expect(offered(stdout)).toEqual(TYPED.map(([, words]) => [...(words ?? [])]));
  expect(
    run(
      'zsh',
      '-f',
      '-c',
      `${stubs}\nsource ./zsh\nwords=(offerbook ''); CURRENT=2; _offerbook; print -rl -- $matched`,
    ),
  ).toContain('serve:run the server\n');
});

test.skipIf(lacks('fish'))('fish completes the same words', () => {
  const asked = TYPED.filter(([, words]) => words !== undefined);
  const stdout = run(
    'fish',
    '--no-config',
    '-c',
    `source ./fish\n${asked.map(([line]) => `complete --do-complete '${line}' | string split --fields 1 \\t; echo ---`).join('\n')}`,
  );
  expect(offered(stdout)).toEqual(asked.map(([, words]) => [...(words ?? [])]));
});

test('completion rejects an unknown shell and names it', async () => {
  const { code, stdout, stderr } = await offerbook(['completion', 'tcsh']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain("'tcsh' is invalid");
});

test.skipIf(lacks('groff'))(
  'the manual page renders in groff without warnings and contains every command',
  async () => {
    const { stdout: page } = await offerbook(['manual']);
    writeFileSync(join(folder, 'offerbook.1'), page);
    const set = run('groff', '-man', '-ww', '-k', '-Tutf8', '-P-cbou', 'offerbook.1');
    expect(set).toContain('OFFERBOOK(1)');
    expect(commands.length).toBeGreaterThan(10);
    const missing = commands.filter((name) => name !== 'help' && !set.includes(`   offerbook ${name} `));
    expect(missing).toEqual([]);
    expect(set).toContain('--page-size <number>');
    expect(set).toContain('Refused by a safety check.');
  },
);
