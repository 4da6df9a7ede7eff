// The published package: its contents, its size, and that it works in the documented runtimes. package-types.long.test.ts tests its
// types, and readme.long.test.ts its README.

import { afterAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CONSUMER_COMMONJS, CONSUMER_ESM, CONSUMER_USER, consumerOutput } from './support/consumer.ts';
import { run } from './support/installed-package.ts';
import { MAKE_OLDER } from './support/older-browser.ts';
import { startProject } from './support/served-project.ts';

const MODULES = [...new Bun.Glob('*.ts').scanSync(join(import.meta.dir, '../src'))].map((file) =>
  file.replace('.ts', ''),
);
const DENO = [
  join(import.meta.dir, '../../node_modules/.bin/deno'),
  ...['run', '--allow-net', '--allow-read=.', '--allow-write=.', '--no-lock', '--quiet'],
];

const project = await startProject();
const { installed, forReal, write } = project;

afterAll(() => project[Symbol.asyncDispose]());

test('the package contains ES modules, CommonJS, types, maps, sources, README and licence, and nothing else', () => {
  const built = MODULES.flatMap((name) =>
    ['js', 'js.map', 'd.ts', 'd.ts.map'].flatMap((type) => [
      `dist/commonjs/${name}.${type}`,
      `dist/esm/${name}.${type}`,
    ]),
  );
  const source = MODULES.map((name) => `src/${name}.ts`);
  const others = ['LICENSE', 'README.md', 'dist/commonjs/package.json', 'package.json'];
  expect(installed.files).toEqual([...built, ...source, ...others].sort());
});

test('the source maps point to the sources in the package', () => {
  const folder = join(installed.folder, 'node_modules/@offerbook/client');
  for (const map of installed.files.filter((file) => file.endsWith('.map'))) {
    const { sources } = JSON.parse(readFileSync(join(folder, map), 'utf8')) as { sources: string[] };
    expect(sources.map((source) => join(dirname(map), source))).toEqual([
      `src/${basename(map).replace(/\.(js|d\.ts)\.map$/, '.ts')}`,
    ]);
  }
});

test('the package has no dependencies', () => {
  const manifest = JSON.parse(
    readFileSync(join(installed.folder, 'node_modules/@offerbook/client/package.json'), 'utf8'),
  ) as Record<string, unknown>;
  expect([manifest.dependencies, manifest.peerDependencies]).toEqual([undefined, undefined]);
});

async function bundleSize(source: string): Promise<number> {
  const entrypoint = join(installed.folder, write('bundle.js', source));
  const { outputs } = await Bun.build({
    entrypoints: [entrypoint],
    minify: true,
    format: 'esm',
    target: 'browser',
  });
  const bytes = await (outputs[0] ?? new Blob()).arrayBuffer();
  return Bun.gzipSync(new Uint8Array(bytes), { level: 9 }).length;
}

test.each([
  ['the whole package', "export * from '@offerbook/client';", 7 * 1024],
  ['the entry point for webhooks', "export * from '@offerbook/client/webhooks';", 2_048],
  ['the only part that is used', "export { ApiError } from '@offerbook/client';", 800],
])('%s, bundled, minified and gzipped: %p has less than %p bytes', async (_, source, sizeMax) => {
  expect(await bundleSize(source)).toBeLessThan(sizeMax);
});

describe.each([
  ['Node', 'consumer.mjs', CONSUMER_ESM, ['node']],
  ['Node, as CommonJS', 'consumer.cjs', CONSUMER_COMMONJS, ['node']],
  ['Bun', 'consumer.mjs', CONSUMER_ESM, [process.execPath]],
  ['Deno', 'consumer.mjs', CONSUMER_ESM, DENO],
])('on %s', (_, file, source, runtime) => {
  test("the package can list, follow, revalidate, receive webhooks and report errors, and its errors never contain the user's id", async () => {
    // Deno cannot read files under /dev, where the other temporary folders are.
    const folder = mkdtempSync('/tmp/offerbook-consumer-');
    try {
      cpSync(installed.folder, folder, { recursive: true });
      writeFileSync(join(folder, file), forReal(source));
      const { stdout, stderr } = await run([...runtime, file], folder);
      expect(JSON.parse(stdout)).toEqual(consumerOutput(Date.UTC(2026, 10, 14, 12)));
      expect(stderr).toContain('No complete response from http://127.0.0.1:2/v1/coupons/c/activate/: ');
      expect(stderr).not.toContain(CONSUMER_USER);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('in React Native, without URL and with abort signals that lack a reason, the client sends the same requests', async () => {
  const app = `
    const { OfferbookClient } = require('@offerbook/client');
    const http = require('node:http');
    // Node's own fetch needs the features that are removed below.
    const fetch = (url, { headers }) => new Promise((resolve, reject) => {
      http.get(url, { headers: Object.fromEntries(headers) }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => { text += chunk; });
        const { statusCode: status, headers } = answer;
        answer.on('end', () => resolve({ status, headers: new Headers(headers), text: async () => text }));
      }).on('error', reject);
    });
    async function main() {
      ${MAKE_OLDER}
      delete globalThis.URL;
      delete globalThis.URLSearchParams;
      Object.defineProperty(globalThis, 'navigator', { value: { product: 'ReactNative' } });
      const client = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_…', fetch });
      const stop = new AbortController();
      stop.abort();
      let refused;
      try { new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_prv_…' }); } catch ({ code }) { refused = code; }
      console.log(JSON.stringify({
        found: (await client.cashbackOffers({ name: 'retailer 2' })).data.map(({ name }) => name),
        walked: (await client.coupons({ limit: 1 }).toArray({ max: 9 })).length,
        aborted: await client.coupons({ signal: stop.signal }).catch(({ code }) => code),
        refused,
      }));
    }
    main();`;
  const { stdout } = await run(['node', write('app.cjs', forReal(app))], installed.folder);
  expect(JSON.parse(stdout)).toEqual({
    found: ['Retailer 2'],
    walked: 3,
    aborted: 'aborted',
    refused: 'private_token_in_browser',
  });
});
