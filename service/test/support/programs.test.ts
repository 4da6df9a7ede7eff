// Programs that are missing: how they are installed, skipped or required. apt-get is a script, so nothing is installed.

import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finish } from './command.ts';
import { temporaryFolder } from './databases.ts';

const PROGRAM = `{ names: ['no-such-program'], tests: 'nothing', apt: 'no-such-package', brew: 'no-such-formula' }`;

/** System folders in which an installation might leave files. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/etc', '/etc/apt', '/etc/apt/apt.conf.d'];
const listSystem = () => SYSTEM_FOLDERS.filter(existsSync).map((folder) => readdirSync(folder));

/** A machine whose apt-get logs its arguments, waits for letGoOn, and logs that it has finished. It has no other program. */
function newMachine() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'calls'), '');
  const lines = [
    '#!/bin/sh',
    `cd '${folder}'`,
    'echo "$@" >> calls',
    '[ "$1" = update ] && exit',
    'until [ -e go-on ]; do sleep 0.05; done',
    'echo end >> calls',
  ];
  writeFileSync(join(folder, 'apt-get'), lines.join('\n'), { mode: 0o755 });

  /** Starts a script that uses programs.ts, as this user. */
  function start(uid: number, script: string, env: Record<string, string | undefined> = {}) {
    const program = `
      process.getuid = () => ${uid};
      const programs = await import(${JSON.stringify(join(import.meta.dir, 'programs.ts'))});
      ${script}`;
    return Bun.spawn([process.execPath, '-e', program], {
      env: { ...process.env, CI: undefined, PATH: `${folder}:${process.env.PATH}`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  return {
    start,
    /** What a script prints, run to its end as an ordinary user. */
    run: (script: string, env?: Record<string, string | undefined>) => finish(start(1_000, script, env)),
    calls: () => readFileSync(join(folder, 'calls'), 'utf8').split('\n').slice(0, -1),
    letGoOn: () => writeFileSync(join(folder, 'go-on'), ''),
  };
}

describe('as root on Debian', () => {
  const isDebian = existsSync('/etc/debian_version');

  test.skipIf(!isDebian || Bun.which('setsid') === null)(
    'installing a program does not start a service, and finishes even if the tests are killed',
    async () => {
      const machine = newMachine();
      const before = listSystem();
      // A program of second choice does not prevent the installation of the first.
      const program = PROGRAM.replace("'no-such-program'", "'no-such-program', 'sh'");
      const child = machine.start(0, `programs.installPrograms([${program}])`);
      while (machine.calls().length < 2) await Bun.sleep(10);
      const during = listSystem();
      child.kill('SIGKILL');
      await child.exited;
      expect([during, listSystem()]).toEqual([before, before]);
      machine.letGoOn();
      while (machine.calls().length < 3) await Bun.sleep(10);
      const noServices = join(import.meta.dir, 'no-services');
      expect(machine.calls()).toEqual([
        'update',
        `install --yes --no-install-recommends no-such-package -o DPkg::Path=${noServices}:/usr/sbin:/usr/bin:/sbin:/bin`,
        'end',
      ]);
      for (const name of ['invoke-rc.d', 'deb-systemd-invoke']) {
        expect(Bun.spawnSync([join(noServices, name), 'nginx', 'start']).exitCode).toBe(0);
      }
    },
  );
});

describe('as an ordinary user', () => {
  const WAYS = 'Install it with: sudo apt-get install no-such-package, or brew install no-such-formula';
  const OPTIONAL = PROGRAM.replace(' }', ', isOptional: true }');

  test.each([
    ['a missing program is not installed', 'installPrograms([PROGRAM])', 'false', 0],
    ['a missing program is an error with CI=true', 'installPrograms([PROGRAM])', 'true', 1],
    ['a program that is missing where a test calls it is an error', 'requireProgram(PROGRAM)', 'false', 1],
    ['an optional program is not required with CI=true', `installPrograms([${OPTIONAL}])`, 'true', 0],
  ])('%s: %s', async (_what, call, CI, expected) => {
    const machine = newMachine();
    const { code, stderr } = await machine.run(`programs.${call.replace('PROGRAM', PROGRAM)}`, { CI });
    expect([code, stderr.includes(`no-such-program is missing. ${WAYS}`)]).toEqual([
      expected,
      expected === 1,
    ]);
    expect(machine.calls()).toEqual([]);
  });

  test('the last lines of the test run name a missing program', async () => {
    const script = `console.log(programs.describeSkipped([${PROGRAM}]).join('\\n'))`;
    expect((await newMachine().run(script)).stdout).toBe(
      `no-such-program is missing: skipped nothing. ${WAYS}
Not root: skipped full disks, files of other users, and a machine with only the C library.\n`,
    );
  });

  test.each([
    ['false', 'true true false'],
    ['true', 'false true false'],
  ])(
    'with CI=%s, tests that need fish, Go or bash are skipped if only bash is installed: %s',
    async (CI, skipped) => {
      const PATH = temporaryFolder();
      writeFileSync(join(PATH, 'bash'), '', { mode: 0o755 });
      const script = `console.log(['fish', 'go', 'bash'].map((name) => programs.lacks(name)).join(' '))`;
      expect((await newMachine().run(script, { PATH, CI })).stdout).toBe(`${skipped}\n`);
    },
  );
});

test('skips tests whose required program is missing, and does not run their hooks', async () => {
  const file = join(temporaryFolder(), 'skipped.test.ts');
  writeFileSync(
    file,
    `import { testsWith } from ${JSON.stringify(join(import.meta.dir, 'tests-with.ts'))};
     const { afterAll, beforeAll, describe, test } = testsWith('fish');
     const fail = () => { throw new Error('must not run'); };
     beforeAll(fail);
     afterAll(fail);
     test('one', fail);
     describe('group', () => {
       beforeAll(fail);
       test.each([1, 2])('number %d', fail);
     });`,
  );
  const run = (CI: string | undefined) =>
    Bun.spawnSync([process.execPath, 'test', file], { env: { PATH: temporaryFolder(), CI } });
  const { exitCode, stderr } = run(undefined);
  expect([exitCode, stderr.toString()]).toEqual([0, expect.stringMatching(/^ 0 pass\n 3 skip\n 0 fail$/m)]);
  expect(run('true').exitCode).toBe(1);
});
