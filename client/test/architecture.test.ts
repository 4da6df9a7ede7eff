// The client stands alone: what it is made of is in its own folder, and it needs nothing that only one
// runtime has.

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(import.meta.dir, '../src');
const files = [...new Bun.Glob('*.ts').scanSync(SOURCE)].sort();

test.each(files)('%s imports from its own folder only', (file) => {
  const source = readFileSync(join(SOURCE, file), 'utf8');
  const imported = [...source.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, path = '']) => path);
  expect(imported.filter((path) => !/^\.\/[a-z-]+\.ts$/.test(path))).toEqual([]);
});

test.each(files)('%s names nothing of Node, Bun or Deno', (file) => {
  const source = readFileSync(join(SOURCE, file), 'utf8');
  expect(source).not.toMatch(/\b(process|Buffer|require|Bun|Deno|setImmediate)\b[.(]/);
});
