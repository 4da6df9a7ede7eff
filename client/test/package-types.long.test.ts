// The types of the published package: correct under every common module resolution since TypeScript 5.0, and without problems
// according to the tools that check packages.

import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { CONSUMER } from './support/consumer.ts';
import {
  addNodeTypes,
  installPackage,
  OLDEST_TYPESCRIPT,
  run,
  TYPESCRIPT,
} from './support/installed-package.ts';
import { readmeExamples } from './support/readme-examples.ts';

const installed = await installPackage();
addNodeTypes(installed.folder);

test('"Are the types wrong?" reports no problems', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(installed.tarball)));
  if (analysis.types === false) throw new Error('the package has no types');
  expect(Object.keys(analysis.entrypoints)).toEqual(['.', './node', './webhooks', './package.json']);
  expect(analysis.problems).toEqual([]);
});

test('publint reports no problems', async () => {
  const pkgDir = join(installed.folder, 'node_modules/@offerbook/client');
  const { messages } = await publint({ pkgDir, pack: false, strict: true });
  expect(messages).toEqual([]);
});

const WRONG = `
import { OfferbookClient, type RetailerCoupon } from '@offerbook/client';
import { verifyWebhook } from '@offerbook/client/webhooks';
const client = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_pub_…' });
// @ts-expect-error: no such filter.
client.coupons({ country: 'DE' });
// @ts-expect-error: a string unless Dates are requested.
client.transactions().then(({ data }) => data[0]?.soldAt.getTime());
// @ts-expect-error: may be missing without expand.
client.transactions.ofUser('u').then(({ data }) => data[0]?.retailer.name);
client.transactions.ofUser('u', { expand: 'retailer' }).then(({ data }) => data[0]?.retailer?.name);
// @ts-expect-error: nothing else can be expanded.
client.transactions({ expand: 'user' });
// @ts-expect-error: the bound is required.
client.retailers().toArray();
// @ts-expect-error: a parsed body cannot be verified.
verifyWebhook({ headers: new Headers(), body: {}, secret: 'whsec_…' });
// @ts-expect-error: an embedded coupon has no retailer fields.
export const retailerId = (coupon: RetailerCoupon) => coupon.retailerId;
`;

const STRICT = {
  target: 'ES2022',
  lib: ['ES2022', 'DOM'],
  types: [],
  strict: true,
  // Skips only the compiler's own declarations; the package's are checked.
  skipDefaultLibCheck: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
};

describe.each([
  ['TypeScript 5.0, node16', OLDEST_TYPESCRIPT, 'ts', { module: 'Node16', moduleResolution: 'node16' }],
  ['TypeScript 5.0, node10', OLDEST_TYPESCRIPT, 'ts', { module: 'CommonJS', moduleResolution: 'node' }],
  ['the latest TypeScript, bundler', TYPESCRIPT, 'ts', { module: 'ESNext', moduleResolution: 'bundler' }],
  ['the latest TypeScript, nodenext', TYPESCRIPT, 'ts', { module: 'NodeNext', moduleResolution: 'nodenext' }],
  [
    'the latest TypeScript, CommonJS',
    TYPESCRIPT,
    'cts',
    { module: 'NodeNext', moduleResolution: 'nodenext' },
  ],
])('under %s', (_, compiler, extension, resolution) => {
  test('TypeScript finds the types of the package, accepts a correct program and rejects an incorrect one', async () => {
    await check(compiler, { ...STRICT, ...resolution }, [
      [`consumer.${extension}`, CONSUMER],
      [`wrong.${extension}`, WRONG],
    ]);
  });
});

test("the README's examples have no type errors", async () => {
  const resolution = { module: 'NodeNext', moduleResolution: 'nodenext', lib: ['ES2022'], types: ['node'] };
  const files = readmeExamples().map(({ source }, index): [string, string] => [`readme-${index}.ts`, source]);
  await check(TYPESCRIPT, { ...STRICT, ...resolution }, files);
});

async function check(
  compiler: string,
  compilerOptions: object,
  files: readonly [string, string][],
): Promise<void> {
  const write = (name: string, text: string) => writeFileSync(join(installed.folder, name), text);
  for (const [name, source] of files) write(name, source);
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: files.map(([name]) => name) }));
  const { stdout, stderr } = await run([compiler, '--project', '.'], installed.folder);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '' });
}
