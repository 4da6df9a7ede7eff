// Builds download Bun for other platforms. These tests use a local npm package instead of Bun's.

import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchRuntime } from '../../scripts/bun-runtime.ts';
import { temporaryFolder } from '../support/databases.ts';

function newPackage(): { readonly source: string; readonly integrity: string } {
  const source = temporaryFolder();
  mkdirSync(join(source, 'bin'));
  writeFileSync(join(source, 'bin/bun'), 'a runtime');
  writeFileSync(join(source, 'package.json'), '{ "name": "runtime", "version": "1.0.0" }');
  const packed = Bun.spawnSync(['npm', 'pack', '--json', '--silent', '--dry-run'], { cwd: source });
  const [{ integrity }] = JSON.parse(packed.stdout.toString());
  return { source, integrity };
}

test('a Bun binary with the wrong checksum is rejected and deleted', async () => {
  const { source, integrity } = newPackage();
  const cache = temporaryFolder();
  await expect(fetchRuntime(source, `sha512-${'A'.repeat(86)}==`, join(cache, 'bad'))).rejects.toThrow(
    `${source} does not match its digest in package-lock.json`,
  );
  expect(readdirSync(cache)).toEqual([]);
  await fetchRuntime(source, integrity, join(cache, 'good'));
  expect(readdirSync(cache)).toEqual(['good']);
  expect(readFileSync(join(cache, 'good/package/bin/bun'), 'utf8')).toBe('a runtime');
  expect(existsSync(join(cache, 'good/runtime-1.0.0.tgz'))).toBe(false);
});
