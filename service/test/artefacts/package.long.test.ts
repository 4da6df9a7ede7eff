// The npm package `offerbook`: the contents of its tarball, and whether it works where npm installs it. `npm run release:check`
// runs a real installation; here, dependencies are links into the checkout, which is faster.

import { describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import manifest from '../../package.json';
import { packedService, ROOT } from '../support/artefacts.ts';
import { offerbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { smoke } from './smoke.ts';

const packed = await packedService();

test('the tarball contains only the command, the build, the README and the licence', () => {
  expect(packed.files.filter((file) => !file.startsWith('dist/'))).toEqual([
    'LICENSE',
    'README.md',
    'bin/offerbook',
    'package.json',
  ]);
  expect(packed.files.filter((file) => file.startsWith('dist/') && !/\.js(\.map)?$/.test(file))).toEqual([]);
});

test('the package depends on exactly the modules that it imports, all from the registry', async () => {
  const folder = await unpack(temporaryFolder());
  const imported = new Set(['bun']);
  for (const file of new Bun.Glob('dist/*.js').scanSync(folder)) {
    const source = await Bun.file(join(folder, file)).text();
    for (const { path } of new Bun.Transpiler({ loader: 'js' }).scanImports(source)) {
      if (!path.startsWith('.') && !isBuiltin(path) && !path.startsWith('bun:'))
        imported.add(packageOf(path));
    }
  }
  expect([...imported].sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

function packageOf(path: string): string {
  return path.split('/', path.startsWith('@') ? 2 : 1).join('/');
}

/** Unpacks the package into this folder, without its dependencies. */
async function unpack(folder: string): Promise<string> {
  const unpacked = temporaryFolder();
  await new Bun.Archive(await Bun.file(packed.tarball).bytes()).extract(unpacked);
  cpSync(join(unpacked, 'package'), folder, { recursive: true });
  return folder;
}

/** Puts the dependencies into node_modules as npm does. Bun's install script moves its executable to another place. */
function addDependencies(modules: string, areScriptsRun: boolean): void {
  const link = (target: string, ...path: string[]) => {
    mkdirSync(dirname(join(modules, ...path)), { recursive: true });
    symlinkSync(target, join(modules, ...path));
  };
  for (const name of Object.keys(manifest.dependencies)) {
    if (name !== 'bun') link(join(ROOT, 'node_modules', name), name);
  }
  if (areScriptsRun) link(process.execPath, '.bin/bun');
  else link(process.execPath, '@oven/bun-of-this-platform/bin/bun');
}

describe('the installed package', () => {
  test('the installed package serves pages and lists with workers in an empty project', async () => {
    const project = temporaryFolder();
    addDependencies(join(project, 'node_modules'), true);
    const command = [join(await unpack(join(project, 'node_modules/offerbook')), 'bin/offerbook')];
    await smoke({ command, cwd: project });
  });

  test.each([true, false])(
    'the globally installed package finds its Bun, with install scripts %p',
    async (areScriptsRun) => {
      const prefix = temporaryFolder();
      const folder = await unpack(join(prefix, 'lib/node_modules/offerbook'));
      addDependencies(join(folder, 'node_modules'), areScriptsRun);
      mkdirSync(join(prefix, 'bin'));
      symlinkSync('../lib/node_modules/offerbook/bin/offerbook', join(prefix, 'bin/offerbook'));
      const { code, stdout, stderr } = await offerbook(['--version'], {
        command: [join(prefix, 'bin/offerbook')],
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toStartWith(manifest.version);
    },
  );
});
