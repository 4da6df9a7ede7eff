// The structure that ARCHITECTURE.md describes: which folder may import from which, and no circles.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const SOURCE = join(import.meta.dir, '..', 'src');

/** A folder (or a file at the root) and what it may import from, besides itself. */
const ALLOWED: Record<string, readonly string[]> = {
  domain: [],
  tracing: ['domain'],
  storage: ['domain'],
  catalogue: ['domain'],
  activation: ['domain', 'catalogue'],
  importer: ['domain', 'activation'],
  feeds: ['domain', 'importer'],
  http: ['domain', 'tracing', 'catalogue', 'activation'],
  console: ['domain', 'http'],
  'config.ts': ['domain', 'tracing', 'http'],
  cli: [
    'domain',
    'tracing',
    'storage',
    'catalogue',
    'activation',
    'importer',
    'feeds',
    'http',
    'console',
    'config.ts',
  ],
  'main.ts': ['cli'],
};

/** How one file of ours names another: imports and exports of values and of types, `import()`, and the file of a worker. */
const REFERENCES = [
  /\bfrom\s+'(\.[^']+)'/g,
  /\bimport\s+'(\.[^']+)'/g,
  /\bimport\(\s*'(\.[^']+)'/g,
  /\bnew URL\(\s*'(\.[^']+)',\s*import\.meta\.url/g,
];

const files = [...new Bun.Glob('**/*.ts').scanSync(SOURCE)].sort();
const imports = new Map(files.map((file) => [file, referencesIn(file, read(file))]));

function read(file: string): string {
  return readFileSync(join(SOURCE, file), 'utf8');
}

/** The files that the source of a file names, each once. */
function referencesIn(file: string, source: string): string[] {
  const paths = REFERENCES.flatMap((pattern) => [...source.matchAll(pattern)].map(([, path = '']) => path));
  const named = paths.filter((path) => !/\.(json|md)$/.test(path));
  return [...new Set(named.map((path) => normalize(join(dirname(file), withExtension(path)))))];
}

/** The file of a thread is named without, because it has another one where the program is built. */
function withExtension(path: string): string {
  return path.endsWith('.ts') ? path : `${path}.ts`;
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

describe('circles', () => {
  test('a file is seen to name another in every way there is', () => {
    const source = `
      import { a } from './a.ts';
      import type { B } from './b.ts';
      import {
        type C,
      } from '../c.ts';
      import './d.ts';
      export type { E } from './e.ts';
      const f = await import('./f.ts');
      let g: typeof import('./g.ts');
      new Worker(new URL('./h', import.meta.url));
      import i from '../../package.json' with { type: 'json' };
      import guide from '../../../docs/polling.md' with { type: 'text' };
      import { j } from 'j';`;
    expect(referencesIn('x/y.ts', source).sort()).toEqual([
      'c.ts',
      ...['a', 'b', 'd', 'e', 'f', 'g', 'h'].map((name) => `x/${name}.ts`),
    ]);
  });

  test('what is imported when it is needed is named in the code, not computed', () => {
    const computed = files.filter((file) => /\bimport\((?!\s*')/.test(read(file)));
    expect(computed).toEqual([]);
  });

  test('no file leads back to itself, not by types, not by import() and not by the file of a worker', () => {
    expect(circlesIn(imports)).toEqual([]);
  });

  test('a circle is found', () => {
    const graph = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['b']],
      ['d', []],
    ]);
    expect(circlesIn(graph)).toEqual(['b → c → b']);
  });
});

function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): string[] {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')];
    if (done.has(file)) return [];
    const circles = (graph.get(file) ?? []).flatMap((next) => visit(next, [...path, file]));
    done.add(file);
    return circles;
  }
  return [...graph.keys()].flatMap((file) => visit(file, []));
}

test('a server starts without the schemas', () => {
  const loaded = new Set(['cli/run.ts', 'cli/commands/serve.ts']);
  for (const file of loaded) for (const next of valueImportsOf(file)) loaded.add(next);
  expect([...loaded].filter((file) => valueSource(file).includes("from 'zod'"))).toEqual([]);
});

function valueSource(file: string): string {
  return read(file).replaceAll(/import type [^;]+;/g, '');
}

/** What is loaded together with a file. */
function valueImportsOf(file: string): string[] {
  const source = valueSource(file).replaceAll(/\b(import|new URL)\(/g, '');
  return referencesIn(file, source);
}

describe('a program that is built has all of its parts inside', () => {
  test('no file finds another by its own place in the repository, but for those that the build replaces', () => {
    const byPlace = files.filter((file) =>
      /import\.meta\.(dir|dirname|path|filename|file|resolve)\b|__dirname|__filename|\bBun\.main\b/.test(
        read(file),
      ),
    );
    expect(byPlace).toEqual(['http/site/embedded.ts']);
  });

  test('the URL of a file is only used for threads, whose files are named so that the build finds them', () => {
    const uses = files.flatMap((file) => read(file).match(/.*import\.meta\.url.*/g) ?? []);
    expect(uses.filter((line) => !/new URL\('\.\/[\w-]+-thread', import\.meta\.url\)/.test(line))).toEqual(
      [],
    );
    expect(uses).not.toEqual([]);
  });
});

test('only config.ts reads the environment', () => {
  const readers = files.filter((file) => /process\.env|Bun\.env/.test(read(file)));
  expect(readers).toEqual(['config.ts']);
});

test('only clock.ts reads the time of day', () => {
  const readers = files.filter((file) => /Date\.now|new Date\(\)/.test(read(file)));
  expect(readers).toEqual(['domain/clock.ts']);
});

test('the service makes no requests of its own, but for the commands that follow and examine another, and to a collector of spans', () => {
  const callers = files.filter((file) =>
    /(?<![.\w'`])fetch\((?!request\) \{)|new OfferbookClient|'node:https?'|'node:http2'/.test(read(file)),
  );
  // The samples only show how others call us.
  const others = callers.filter((file) => !file.startsWith('http/site/samples/'));
  expect(others).toEqual(['cli/commands/follow.ts', 'cli/doctor/probe.ts', 'tracing/otlp-exporter.ts']);
});
