// Finds programs that are not on npm, or installs them with apt-get if possible.

const NOT_INSTALLABLE = new Set<string>();

/** Returns the path of a program; undefined if it is missing and cannot be installed. */
export async function findTool(name: string): Promise<string | undefined> {
  const found = Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/sbin` });
  if (found !== null) return found;
  if (NOT_INSTALLABLE.has(name) || process.getuid?.() !== 0 || Bun.which('apt-get') === null)
    return undefined;
  process.stderr.write(`Installing ${name} …\n`);
  const install = Bun.spawn(['apt-get', 'install', '-y', '--no-install-recommends', name], {
    stdout: 'ignore',
    stderr: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if ((await install.exited) === 0) return findTool(name);
  NOT_INSTALLABLE.add(name);
  return undefined;
}

export async function getTool(name: string): Promise<string> {
  const found = await findTool(name);
  if (found === undefined)
    throw new Error(`${name} is missing; install it, for example: apt-get install ${name}`);
  return found;
}
