// The client imports only from its own folder and works in every runtime. The exception is node.ts, which is an
// entry point of its own.

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dir, '../src');
const files = [...new Bun.Glob('*.ts').scanSync(SOURCE)].sort();

function importsOf(file: string): string[] {
  const source = readFileSync(join(SOURCE, file), 'utf8');
  return [...source.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, path = '']) => path);
}

test('every file except node.ts imports only from its own folder', () => {
  const foreign = files.flatMap((file) =>
    importsOf(file)
      .filter((path) => !/^\.\/[a-z-]+\.ts$/.test(path))
      .map((path) => `${file} imports ${path}`),
  );
  expect(foreign).toEqual(['node:fs/promises', 'node:path'].map((path) => `node.ts imports ${path}`));
});

test('no other file imports node.ts', () => {
  expect(files.filter((file) => importsOf(file).includes('./node.ts'))).toEqual([]);
});

test.each(files)('%s does not use any Node, Bun or Deno API', (file) => {
  const source = readFileSync(join(SOURCE, file), 'utf8');
  expect(source).not.toMatch(/\b(process|Buffer|require|Bun|Deno|setImmediate)\b[.(]/);
});
