// The package as it is published: what is in it, that it works where it says it works, that its types hold
// under the module resolutions in use, that the README tells the truth, and how big it is.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coupon, id, offer, promotion, retailer, transaction } from '../../service/test/support/fixtures.ts';
import {
  addNodeTypes,
  type InstalledPackage,
  installPackage,
  run,
  typeScript,
} from './support/installed-package.ts';
import { ServiceProcess } from './support/service-process.ts';

const SIZE_MAX = 5_000;
const MODULES = [
  'browser',
  'client',
  'clock',
  'errors',
  'etag-cache',
  'follow',
  'index',
  'list',
  'pace',
  'page',
  'request',
];
MODULES.push('retry-rules', 'timestamp', 'token', 'wire');
const SHOPS = [1, 2, 3].map((number) =>
  retailer(number, {
    cashbackOffers: [offer(10 + number)],
    coupons: [coupon(20 + number)],
    promotions: [promotion(30 + number)],
  }),
);

// Each starts processes, on a machine that may be busy with others.
setDefaultTimeout(30_000);

let installed: InstalledPackage;
let service: ServiceProcess;
const tokens = { public: '', private: '' };

beforeAll(async () => {
  [installed, service] = await Promise.all([installPackage(), ServiceProcess.start()]);
  addNodeTypes(installed.folder);
  await service.importCatalogue(SHOPS);
  tokens.public = await service.token('public');
  tokens.private = await service.token('private');
  await service.importTransactions([transaction(1), transaction(2)]);
  const authorization = { headers: { Authorization: `Bearer ${tokens.public}` } };
  while (!(await (await fetch(`${service.url}/v1/retailers/`, authorization)).text()).includes(id(3)))
    await Bun.sleep(10);
}, 60_000);

afterAll(() => service[Symbol.asyncDispose]());

/** Puts the real address and tokens in the place of those in the documentation. */
function forReal(source: string): string {
  return source
    .replaceAll('https://api.example', service.url)
    .replaceAll('ob_pub_…', tokens.public)
    .replaceAll('ob_prv_…', tokens.private);
}

function write(name: string, source: string): string {
  writeFileSync(join(installed.folder, name), source);
  return name;
}

test('the package has the modules, their types, README and licence, and nothing else', () => {
  const modules = MODULES.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  expect(installed.files).toEqual(['LICENSE', 'README.md', ...modules, 'package.json'].sort());
});

test('it has no dependencies', () => {
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

test(`all of it, bundled, minified and gzipped, has at most ${SIZE_MAX} bytes`, async () => {
  expect(await bundleSize("export * from '@offerbook/client';")).toBeLessThan(SIZE_MAX);
});

test('a bundle takes no more of it than is used', async () => {
  const size = await bundleSize("import { ApiError } from '@offerbook/client'; export { ApiError };");
  expect(size).toBeLessThan(800);
});

const CONSUMER = `
import { type CashbackOffer, OfferbookClient, type Transaction } from '@offerbook/client';

const catalogue = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_…' });
const sales = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_prv_…', dates: 'Date' });
const offers: CashbackOffer[] = await catalogue.cashbackOffers({ country: 'DE' }).toArray({ max: 10 });
const seen: Transaction<Date>[] = [];
let checkpoint: string | undefined;
for await (const change of sales.followTransactions({ once: true, onCheckpoint: (c) => { checkpoint = c; } })) seen.push(change);
const again = await catalogue.cashbackOffers({ country: 'DE' });
const error = await catalogue.retailers({ limit: 0 }).then(() => undefined, (reason: unknown) => reason as { code: string });
let refused = '';
try { catalogue.transactions(); } catch (reason) { refused = (reason as { code: string }).code; }
console.log(JSON.stringify({
  offers: offers.length,
  seen: seen.map((change) => change.soldAt.getTime()),
  checkpoint: typeof checkpoint,
  again: again.data.length,
  error: error?.code,
  refused,
}));
`;

// The same without its types, for a runtime that knows only JavaScript.
const CONSUMER_JS = new Bun.Transpiler({ loader: 'ts', target: 'node' }).transformSync(CONSUMER);

describe.each([
  ['Node', ['node']],
  ['Bun', [process.execPath]],
  [
    'Deno',
    [join(import.meta.dir, '../../node_modules/.bin/deno'), 'run', '--allow-net', '--no-lock', '--quiet'],
  ],
])('on %s', (_, runtime) => {
  test('it reads, follows, confirms and refuses', async () => {
    const { stdout } = await run([...runtime, write('consumer.mjs', forReal(CONSUMER_JS))], installed.folder);
    const soldAtMs = Date.UTC(2026, 10, 14, 12);
    expect(JSON.parse(stdout)).toEqual({
      offers: 3,
      seen: [soldAtMs, soldAtMs],
      checkpoint: 'string',
      again: 3,
      error: 'invalid_parameter',
      refused: 'wrong_token_kind',
    });
  });
});

const WRONG = `
import { OfferbookClient } from '@offerbook/client';
const client = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_…' });
// @ts-expect-error: no such filter.
client.coupons({ country: 'DE' });
// @ts-expect-error: a text, unless dates are asked for.
for await (const { soldAt } of client.transactions()) soldAt.getTime();
// @ts-expect-error: the bound is required.
client.retailers().toArray();
`;

describe.each([
  ['bundler', { module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], types: [] }],
  ['nodenext', { module: 'NodeNext', moduleResolution: 'nodenext', lib: ['ES2022'], types: ['node'] }],
])('under moduleResolution %s', (name, options) => {
  test('its types are found, say what is so, and refuse what is not', async () => {
    const examples = readmeExamples().map(({ source }, index) => write(`readme-${index}.ts`, source));
    // The README's follower reads a file, which only the second set of types knows of.
    const included = name === 'nodenext' ? examples : [];
    const compilerOptions = {
      ...options,
      target: 'ES2022',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    };
    const files = [write('consumer.ts', CONSUMER), write('wrong.ts', WRONG), ...included];
    write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
    expect(await run([typeScript(), '--project', '.'], installed.folder)).toEqual({ stdout: '', stderr: '' });
  });
});

interface Example {
  readonly title: string;
  readonly source: string;
}

/** Every TypeScript example of the README, with the heading it stands under. */
function readmeExamples(): Example[] {
  const readme = readFileSync(join(import.meta.dir, '../README.md'), 'utf8');
  return readme.split(/^## /m).flatMap((section) =>
    [...section.matchAll(/```ts\n(.*?)```/gs)].map(([, source = '']) => ({
      title: section.split('\n')[0] ?? '',
      source,
    })),
  );
}

describe("the README's examples", () => {
  const printed: Record<string, string> = {
    Lists: `Retailer 1: 5 %\nRetailer 2: 5 %\nRetailer 3: 5 %\n2 true\n[ "CODE21", "CODE22", "CODE23" ]\n3 true\n`,
    Errors: `invalid_parameter 400 [\n  {\n    parameter: "country",\n    detail: "must be a country code of two letters (ISO 3166-1 alpha-2)",\n  }\n]\n`,
    'Timeouts, retries, aborting': '3\n',
    Dates: '2026-11-14T12:00:00.000Z\n2026-11-14T12:00:00.000Z\n',
    Caching: '1\n',
  };

  test.each(Object.entries(printed))('%s: prints what it should', async (title, output) => {
    const source = readmeExamples().find((example) => example.title === title)?.source ?? '';
    const { stdout } = await run([process.execPath, write('example.ts', forReal(source))], installed.folder);
    expect(stdout).toBe(output);
  });

  test('Following transactions: prints changes, keeps its place, and stops when told', async () => {
    const source = readmeExamples().find(({ title }) => title === 'Following transactions')?.source ?? '';
    const name = write('example-follow.ts', forReal(source));
    const child = Bun.spawn([process.execPath, name], {
      cwd: installed.folder,
      stdout: 'pipe',
      stderr: 'inherit',
    });
    let output = '';
    for await (const chunk of child.stdout) {
      output += new TextDecoder().decode(chunk);
      if (output.includes(id(2))) child.kill('SIGTERM');
    }
    expect(output).toBe(`${id(1)} PENDING 3.99\n${id(2)} PENDING 3.99\nstopped\n`);
    expect(readFileSync(join(installed.folder, 'checkpoint.txt'), 'utf8')).toMatch(/^2\d{3}-/);
  });

  test('are all run', () => {
    const titles = readmeExamples().map(({ title }) => title);
    expect(titles.sort()).toEqual([...Object.keys(printed), 'Following transactions'].sort());
  });
});
