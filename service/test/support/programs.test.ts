// Installing what tests need, without installing anything: an apt-get that notes down how it was called.

import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './databases.ts';

const PROGRAMS = join(import.meta.dir, 'programs.ts');

/** Asks for a program that no machine has, as this user. */
const script = (uid: number) => `
  process.getuid = () => ${uid};
  const { requireProgram } = await import(${JSON.stringify(PROGRAMS)});
  requireProgram({ names: ['no-such-program'], debianPackage: 'no-such-package', need: 'A test needs it' });
`;

/** Where an installation used to leave things, or might. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/etc', '/etc/apt', '/etc/apt/apt.conf.d'];
const listSystem = () => SYSTEM_FOLDERS.filter(existsSync).map((folder) => readdirSync(folder));

/** A machine whose apt-get is a script: it notes its arguments, waits until it may go on, and notes that it came to its end. */
class Machine {
  readonly #folder = temporaryFolder();

  constructor() {
    writeFileSync(join(this.#folder, 'calls'), '');
    const lines = [
      '#!/bin/sh',
      `cd '${this.#folder}'`,
      'echo "$@" >> calls',
      '[ "$1" = update ] && exit',
      'until [ -e go-on ]; do sleep 0.05; done',
      'echo end >> calls',
    ];
    writeFileSync(join(this.#folder, 'apt-get'), lines.join('\n'), { mode: 0o755 });
  }

  get calls(): string[] {
    return readFileSync(join(this.#folder, 'calls'), 'utf8').split('\n').slice(0, -1);
  }

  letGoOn(): void {
    writeFileSync(join(this.#folder, 'go-on'), '');
  }

  start(uid: number) {
    return Bun.spawn([process.execPath, '-e', script(uid)], {
      env: { ...process.env, PATH: `${this.#folder}:${process.env.PATH}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }
}

test('what root installs starts no service, and a set-up that is killed leaves nothing behind', async () => {
  const machine = new Machine();
  const before = listSystem();
  const child = machine.start(0);
  while (machine.calls.length < 2) await Bun.sleep(10);
  const during = listSystem();
  child.kill('SIGKILL');
  await child.exited;
  expect([during, listSystem()]).toEqual([before, before]);
  // Half of an installation would be left behind if it ended with us.
  machine.letGoOn();
  while (machine.calls.length < 3) await Bun.sleep(10);
  const noServices = join(import.meta.dir, 'no-services');
  expect(machine.calls).toEqual([
    'update',
    `install --yes --no-install-recommends no-such-package -o DPkg::Path=${noServices}:/usr/sbin:/usr/bin:/sbin:/bin`,
    'end',
  ]);
  for (const name of ['invoke-rc.d', 'deb-systemd-invoke']) {
    expect(Bun.spawnSync([join(noServices, name), 'nginx', 'start']).exitCode).toBe(0);
  }
});

test('without root, the command that installs it is told', async () => {
  const machine = new Machine();
  const child = machine.start(1_000);
  expect(await new Response(child.stderr).text()).toContain(
    'A test needs it. Install it with: sudo apt-get install --yes --no-install-recommends no-such-package',
  );
  expect([await child.exited, machine.calls]).toEqual([1, []]);
});
