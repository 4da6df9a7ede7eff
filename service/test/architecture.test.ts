// The structure that ARCHITECTURE.md describes: which folder may import from which, and no circles.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const SOURCE = join(import.meta.dir, '..', 'src');

/** A folder (or a file at the root) and what it may import from, besides itself. */
const ALLOWED: Record<string, readonly string[]> = {
  domain: [],
  storage: ['domain'],
  catalogue: ['domain'],
  importer: ['domain'],
  feeds: ['domain', 'importer'],
  http: ['domain', 'catalogue'],
  'config.ts': ['domain', 'http'],
  cli: ['domain', 'storage', 'catalogue', 'importer', 'feeds', 'http', 'config.ts'],
  'main.ts': ['cli'],
};

const files = [...new Bun.Glob('**/*.ts').scanSync(SOURCE)].sort();
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const source = readFileSync(join(SOURCE, file), 'utf8');
  return [...source.matchAll(/from '(\.[^']+(?<!\.json))'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
}

function place(file: string): string {
  return file.split('/')[0] ?? file;
}

describe('import direction', () => {
  test.each(files)('%s', (file) => {
    const from = place(file);
    const outside = (imports.get(file) ?? [])
      .map(place)
      .filter((to) => to !== from && !ALLOWED[from]?.includes(to));
    expect(outside).toEqual([]);
  });
});

test('no file imports itself in a circle, types aside', () => {
  const values = new Map(files.map((file) => [file, valueImportsOf(file)]));
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): string[] {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')];
    if (done.has(file)) return [];
    const circles = (values.get(file) ?? []).flatMap((next) => visit(next, [...path, file]));
    done.add(file);
    return circles;
  }
  expect(files.flatMap((file) => visit(file, []))).toEqual([]);
});

test('a server starts without the schemas', () => {
  const loaded = new Set(['cli/run.ts', 'cli/commands/serve.ts']);
  for (const file of loaded) for (const next of valueImportsOf(file)) loaded.add(next);
  expect([...loaded].filter((file) => valueSource(file).includes("from 'zod'"))).toEqual([]);
});

function valueSource(file: string): string {
  return readFileSync(join(SOURCE, file), 'utf8').replaceAll(/import type [^;]+;/g, '');
}

function valueImportsOf(file: string): string[] {
  const source = valueSource(file);
  return [...source.matchAll(/from '(\.[^']+(?<!\.json))'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
}

test('only config.ts reads the environment', () => {
  const readers = files.filter((file) =>
    /process\.env|Bun\.env/.test(readFileSync(join(SOURCE, file), 'utf8')),
  );
  expect(readers).toEqual(['config.ts']);
});

test('only clock.ts reads the time of day', () => {
  const readers = files.filter((file) =>
    /Date\.now|new Date\(\)/.test(readFileSync(join(SOURCE, file), 'utf8')),
  );
  expect(readers).toEqual(['domain/clock.ts']);
});

test('the service makes no requests of its own, but for the command that follows another', () => {
  const callers = files.filter((file) =>
    /(?<![.\w'`])fetch\((?!request\) \{)|new OfferbookClient|'node:https?'|'node:http2'/.test(
      readFileSync(join(SOURCE, file), 'utf8'),
    ),
  );
  // code-samples.ts only shows how others call us.
  expect(callers).toEqual(['cli/commands/follow.ts', 'http/site/code-samples.ts']);
});
