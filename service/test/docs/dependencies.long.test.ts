// Dependencies: all licences are permissive, and the audit fails for a known vulnerability but not for an unreachable registry.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readDependencies } from '../../../scripts/licences.ts';
import { runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { localServer } from '../support/local-server.ts';
import { freePort } from '../support/postgres-server.ts';

const ROOT = join(import.meta.dir, '..', '..', '..');
const FREE = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'Unlicense', 'MIT OR Apache-2.0'];
/** Licences that impose no obligations on operators, who only run the program. */
const FREE_AS_TOOL = [...FREE, 'MPL-2.0', 'PSF-2.0', 'Python-2.0', '0BSD', 'CC0-1.0', 'BlueOak-1.0.0'];

test('every dependency has a permissive licence', async () => {
  const foreign = (await readDependencies()).filter(
    ({ licence, isRuntime }) => !(isRuntime ? FREE : FREE_AS_TOOL).includes(licence),
  );
  expect(foreign).toEqual([]);
});

test('every dependency is pinned to an exact version', () => {
  const ranges = [
    '.',
    'client',
    'feeds',
    'sandbox',
    'service',
    'site',
    'wire',
    'service/test/generators',
  ].flatMap((folder) => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(ROOT, folder, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string> | undefined>;
    return Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
  });
  expect(ranges).toEqual([]);
});

test('the lockfile contains the packages for every platform', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const locked = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
});

describe('npm run audit', () => {
  async function audit(registry: string) {
    // Use a temporary cache, so that npm does not keep the fake registry's responses.
    const env = { ...process.env, npm_config_cache: temporaryFolder() };
    const command = [process.execPath, 'scripts/audit.ts', '--registry', registry];
    const { code, stdout } = await runProgram(command, { cwd: ROOT, env });
    return { stdout, code };
  }

  /** A fake npm registry that reports one vulnerability. */
  function registry(severity: string) {
    return localServer(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/zod') {
        return Response.json({ name: 'zod', versions: { '1.0.0': { name: 'zod', version: '1.0.0' } } });
      }
      if (!pathname.endsWith('/advisories/bulk')) return new Response(null, { status: 404 });
      const asked = JSON.parse(gunzipSync(await request.arrayBuffer()).toString()) as Record<
        string,
        string[]
      >;
      expect(Object.keys(asked)).toContain('zod');
      expect(Object.keys(asked)).not.toContain('fast-check');
      const advisory = {
        id: 1,
        url: 'https://advisories.example/1',
        title: 'Made up',
        severity,
        vulnerable_versions: '*',
        cwe: [],
        cvss: { score: 0, vectorString: null },
      };
      return Response.json(severity === '' ? {} : { zod: [advisory] });
    });
  }

  test.each([
    ['high', 1, /^(high: @modelcontextprotocol.+\n)*high: zod \*\n(.+\n)*Audited: .*[1-9]\d* high/],
    ['low', 0, /^Audited: .*[1-9]\d* low/],
    ['', 0, /^Audited: .*0 high/],
  ])('npm run audit with a %p vulnerability exits with %p', async (severity, code, words) => {
    using server = registry(severity);
    expect(await audit(server.url.href)).toEqual({ code, stdout: expect.stringMatching(words) });
  });

  test('npm run audit passes with a note if the registry does not support audits or is unreachable', async () => {
    using unable = localServer(() => new Response(null, { status: 405 }));
    for (const url of [unable.url.href, `http://127.0.0.1:${await freePort()}/`]) {
      expect(await audit(url)).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^Not audited: the registry returned no report/),
      });
    }
  });
});
