// Programs that tests need and that npm does not install. As root on Debian, missing programs are installed with apt-get.
// Elsewhere the tests that need one are skipped, and the last lines of a run name it. With CI=true a missing program is an error.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Program {
  /** The names it may have; the first that is found is used. */
  readonly names: readonly [string, ...string[]];
  /** What its tests cover, for the line that reports them as skipped. */
  readonly tests: string;
  /** Debian's packages. */
  readonly apt: string;
  /** Homebrew's package; undefined if there is none. */
  readonly brew?: string | undefined;
  /** Used where it is installed, but never installed for the tests and not required with CI=true. */
  readonly isOptional?: true;
}

/** The program is called `name` on every system, unless an entry names it. */
function program(name: string, tests: string, differences: Partial<Program> = {}): Program {
  return { names: [name], tests, apt: name, brew: name, ...differences };
}

const { TEST_BROWSER } = process.env;
// The headless shell is the same engine as Chromium and uses less than half the CPU time.
const BROWSERS = [
  ...(['chromium-headless-shell', 'chromium', 'chromium-browser'] as const),
  ...(['google-chrome', 'google-chrome-stable'] as const),
] as const;

export const PROGRAMS = {
  bash: program('bash', 'the commands in the docs, completion in bash'),
  chromium: program('chromium-headless-shell', 'the pages and the client in a browser', {
    names: TEST_BROWSER === undefined ? BROWSERS : [TEST_BROWSER],
    brew: '--cask chromium',
  }),
  // Only the whole browser has extensions.
  chrome: program('chromium', 'the example extension', {
    names: ['chromium', 'chromium-browser'],
    brew: '--cask chromium',
  }),
  curl: program('curl', 'the curl commands in the docs'),
  find: program('find', 'the deletion of old backups', { apt: 'findutils', brew: 'findutils' }),
  fish: program('fish', 'completion in fish'),
  git: program('git', 'the commit in --version, .gitignore'),
  go: program('go', 'the code sample and the webhook receiver in Go', { apt: 'golang-go', isOptional: true }),
  groff: program('groff', 'the manual page', { apt: 'groff-base' }),
  haproxy: program('haproxy', 'the service behind HAProxy'),
  java: program('java', 'the code sample in Java', {
    ...{ apt: 'default-jdk-headless', brew: 'openjdk', isOptional: true },
  }),
  nginx: program('nginx', 'the service behind nginx'),
  openssl: program('openssl', 'PostgreSQL over TLS'),
  pgbouncer: program('pgbouncer', 'PostgreSQL through PgBouncer'),
  php: program('php', 'the code sample and the webhook receiver in PHP', { apt: 'php-cli php-sqlite3' }),
  promtool: program('promtool', 'the alerts and the dashboard', { apt: 'prometheus', brew: 'prometheus' }),
  python: program('python3', 'the code samples and the webhook receiver in Python'),
  'systemd-analyze': program('systemd-analyze', 'the systemd units', { apt: 'systemd', brew: undefined }),
  zsh: program('zsh', 'completion in zsh'),
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;

/** Debian keeps servers in folders that are not on every user's PATH. */
const SERVER_FOLDERS = '/usr/local/sbin:/usr/sbin';
/** PATH for apt-get. The stand-ins in no-services come first, so that an installation starts no service. */
const INSTALL_PATH = `${join(import.meta.dir, 'no-services')}:/usr/sbin:/usr/bin:/sbin:/bin`;

function findProgram({ names }: Program): string | undefined {
  const PATH = `${process.env.PATH}:${SERVER_FOLDERS}`;
  return names.map((name) => Bun.which(name, { PATH })).find((path) => path !== null) ?? undefined;
}

/** The path of a program, which is installed first if possible. Throws an error with the commands that install it. */
export function requireProgram(program: Program): string {
  const found = findProgram(program) ?? install(program);
  if (found === undefined) throw new Error(`${program.names[0]} is missing. ${howToInstall(program)}`);
  return found;
}

/**
 * Installs what all tests need, where that is possible, even if a program of second choice is there. With CI=true, throws if a
 * program is still missing.
 */
export function installPrograms(programs: readonly Program[]): void {
  for (const program of programs.filter(({ isOptional }) => isOptional !== true)) {
    const [preferred] = program.names;
    if (findProgram({ ...program, names: [preferred] }) === undefined) install(program);
    if (isRequired(program)) requireProgram(program);
  }
}

/** Starts a server program in the foreground and waits until it responds. */
export async function startProgram(
  program: Program,
  args: readonly string[],
  isUp: () => Promise<boolean>,
): Promise<Bun.Subprocess<'ignore', 'ignore', 'pipe'>> {
  const child = Bun.spawn([requireProgram(program), ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  while (!(await isUp().catch(() => false))) {
    if (child.exitCode !== null)
      throw new Error(`${program.names[0]} ended: ${await new Response(child.stderr).text()}`);
    await Bun.sleep(20);
  }
  return child;
}

/** True if the tests that need these programs must be skipped. */
export function lacks(...names: readonly ProgramName[]): boolean {
  const programs: readonly Program[] = names.map((name) => PROGRAMS[name]);
  return programs.some((program) => !isRequired(program) && findProgram(program) === undefined);
}

const isRequired = ({ isOptional }: Program): boolean => process.env.CI === 'true' && isOptional !== true;

/** One line for each group of tests that was skipped, for the end of a test run. */
export function describeSkipped(programs: readonly Program[]): string[] {
  const missing = programs.filter((program) => findProgram(program) === undefined);
  return [
    ...missing.map(
      (program) => `${program.names[0]} is missing: skipped ${program.tests}. ${howToInstall(program)}`,
    ),
    ...(process.getuid?.() === 0
      ? []
      : ['Not root: skipped full disks, files of other users, and a machine with only the C library.']),
  ];
}

function howToInstall({ apt, brew }: Program): string {
  const ways = [`sudo apt-get install ${apt}`, ...(brew === undefined ? [] : [`brew install ${brew}`])];
  return `Install it with: ${ways.join(', or ')}`;
}

let hasPackageLists = false;

/**
 * Installs a program with apt-get and returns its path; undefined where that is not possible. apt-get runs in a session of its
 * own, so that stopping the tests never leaves a half-finished installation.
 */
function install(program: Program): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return undefined;
  if (!hasPackageLists) Bun.spawnSync(['apt-get', 'update'], { stdout: 'ignore', stderr: 'ignore' });
  hasPackageLists = true;
  const command = ['apt-get', 'install', '--yes', '--no-install-recommends', ...program.apt.split(' ')];
  const { success, stderr } = Bun.spawnSync(
    ['setsid', '--wait', ...command, '-o', `DPkg::Path=${INSTALL_PATH}`],
    { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, stdout: 'ignore', stderr: 'pipe' },
  );
  if (!success) process.stderr.write(stderr);
  return findProgram(program);
}
