// Enforces the structure that ARCHITECTURE.md describes: which part may import from which, without import cycles.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dir, '..', '..');
const SERVICE = 'service/src/';

/** Each workspace, and each folder or file directly under service/src, with the parts that it may import from. */
const ALLOWED: Record<string, readonly string[]> = {
  wire: [],
  client: [],
  feeds: ['wire'],
  sandbox: ['wire', 'client'],
  site: ['client', 'wire'],
  domain: ['wire'],
  tracing: ['wire', 'domain'],
  storage: ['wire', 'domain'],
  health: ['wire', 'domain', 'storage'],
  webhooks: ['wire', 'domain'],
  catalogue: ['wire', 'domain'],
  activation: ['wire', 'domain', 'catalogue'],
  importer: ['wire', 'domain', 'activation'],
  pull: ['wire', 'feeds', 'domain', 'activation', 'importer', 'tracing'],
  http: ['wire', 'site', 'domain', 'tracing', 'catalogue', 'activation', 'health'],
  console: ['wire', 'site', 'domain', 'health', 'http'],
  'config.ts': ['wire', 'domain', 'tracing', 'http', 'webhooks'],
  'main.ts': ['cli'],
};
ALLOWED.cli = Object.keys(ALLOWED).filter((name) => name !== 'main.ts');

/** The ways in which one of our files refers to another: imports, exports, `import()` and the file of a worker. */
const REFERENCES = [
  /\bfrom\s+'((?:\.|@offerbook\/)[^']+)'/g,
  /\bimport\s+'((?:\.|@offerbook\/)[^']+)'/g,
  /\bimport\(\s*'((?:\.|@offerbook\/)[^']+)'/g,
  /\bnew URL\(\s*'(\.[^']+)',\s*import\.meta\.url/g,
];

const files = [...new Bun.Glob('{client,feeds,sandbox,service,site,wire}/src/**/*.ts').scanSync(ROOT)].sort();
const serviceFiles = files.filter((file) => file.startsWith(SERVICE));
const imports = new Map(files.map((file) => [file, referencesIn(file, read(file))]));

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The files that this source text refers to, each once. */
function referencesIn(file: string, source: string): string[] {
  const paths = REFERENCES.flatMap((pattern) => [...source.matchAll(pattern)].map(([, path = '']) => path));
  const named = paths.filter((path) => !/\.(json|md)$/.test(path));
  // The code samples contain imports as text.
  return file.includes('/samples/') ? [] : [...new Set(named.map((path) => resolve(file, path)))];
}

/** The file of a thread is named without its extension, which differs in a built program. */
function resolve(file: string, path: string): string {
  if (path === '@offerbook/client' || path === '@offerbook/client/node') return 'client/src/index.ts';
  const whole = path.endsWith('.ts') ? path : `${path}.ts`;
  const [, workspace, rest] = /^@offerbook\/(\w+)\/(.+)$/.exec(whole) ?? [];
  return workspace === undefined ? normalize(join(dirname(file), whole)) : `${workspace}/src/${rest}`;
}

/** The part of the program that a file belongs to, as ALLOWED names it. */
function part(file: string): string {
  const inService = file.startsWith(SERVICE);
  return (inService ? file.slice(SERVICE.length) : file).split('/')[0] ?? file;
}

describe('import direction', () => {
  test.each(files)('%s', (file) => {
    const from = part(file);
    const outside = (imports.get(file) ?? [])
      .map(part)
      .filter((to) => to !== from && !ALLOWED[from]?.includes(to));
    expect(outside).toEqual([]);
  });
});

describe('import cycles', () => {
  test('every kind of reference to another file is recognised', () => {
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
      import { j } from 'j';
      import { k } from '@offerbook/wire/rows/k.ts';`;
    expect(referencesIn('x/y.ts', source).sort()).toEqual([
      'c.ts',
      'wire/src/rows/k.ts',
      ...['a', 'b', 'd', 'e', 'f', 'g', 'h'].map((name) => `x/${name}.ts`),
    ]);
  });

  test('import() is only called with a string literal', () => {
    const computed = serviceFiles.filter((file) => /(?<!async |\.)\bimport\((?!\s*')/.test(read(file)));
    expect(computed).toEqual([]);
  });

  test('there are no import cycles, even through types, import() and worker files', () => {
    expect(cyclesIn(imports)).toEqual([]);
  });

  test('the cycle check finds a cycle in a graph', () => {
    const graph = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['b']],
      ['d', []],
    ]);
    expect(cyclesIn(graph)).toEqual(['b → c → b']);
  });
});

function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): string[] {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' → ')];
    if (done.has(file)) return [];
    const cycles = (graph.get(file) ?? []).flatMap((next) => visit(next, [...path, file]));
    done.add(file);
    return cycles;
  }
  return [...graph.keys()].flatMap((file) => visit(file, []));
}

test('serve starts without loading the schemas', () => {
  const loaded = new Set([`${SERVICE}cli/run.ts`, `${SERVICE}cli/commands/running/serve.ts`]);
  for (const file of loaded) for (const next of valueImportsOf(file)) loaded.add(next);
  expect([...loaded].filter((file) => valueSource(file).includes("from 'zod'"))).toEqual([]);
});

function valueSource(file: string): string {
  return read(file).replaceAll(/import type [^;]+;/g, '');
}

/** The files that are loaded together with this one. */
function valueImportsOf(file: string): string[] {
  const source = valueSource(file).replaceAll(/\b(import|new URL)\(/g, '');
  return referencesIn(file, source);
}

describe('files that the build must find', () => {
  test('only the module that the build replaces locates files relative to itself', () => {
    const byPlace = files.filter((file) =>
      /import\.meta\.(dir|dirname|path|filename|file|resolve)\b|__dirname|__filename|\bBun\.main\b/.test(
        read(file),
      ),
    );
    expect(byPlace).toEqual([`${SERVICE}http/pages/embedded.ts`]);
  });

  test('only thread scripts are loaded by file URL, with names that the build recognises', () => {
    const uses = files.flatMap((file) => read(file).match(/.*import\.meta\.url.*/g) ?? []);
    expect(uses.filter((line) => !/new URL\('\.\/[\w-]+-thread', import\.meta\.url\)/.test(line))).toEqual(
      [],
    );
    expect(uses).not.toEqual([]);
  });
});

test('only config.ts reads the environment, and only cli/command.ts lets Commander read it', () => {
  const readers = serviceFiles.filter((file) => /process\.env|Bun\.env/.test(read(file)));
  expect(readers).toEqual([`${SERVICE}config.ts`]);
  const options = serviceFiles.filter((file) => /\.env\(/.test(read(file)));
  expect(options).toEqual([`${SERVICE}cli/command.ts`]);
});

test('only clock.ts reads the current time, except for browser scripts', () => {
  const readers = files.filter(
    (file) => !file.startsWith('site/src/browser/') && /Date\.now|new Date\(\)/.test(read(file)),
  );
  expect(readers).toEqual(['client/src/clock.ts', `${SERVICE}domain/clock.ts`]);
});

test('only follow, mcp, doctor, pull, webhooks and the span exporter send requests', () => {
  const callers = serviceFiles.filter((file) =>
    /(?<![.\w'`])fetch\((?!request\) \{)|new OfferbookClient|'node:https?'|'node:http2'/.test(read(file)),
  );
  const others = callers.filter((file) => !file.includes('/samples/'));
  expect(others).toEqual(
    [
      ...['cli/commands/data/follow.ts', 'cli/commands/tools/mcp.ts', 'cli/doctor/liveness-problem.ts'],
      'pull/network-client.ts',
      'tracing/otlp-exporter.ts',
      'webhooks/post.ts',
    ].map((file) => SERVICE + file),
  );
});
