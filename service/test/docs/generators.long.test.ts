// docs/generators.md: runs each generator as written on the OpenAPI document of a running service, compiles the generated
// client with the program on the page, and checks that the program lists the service's offers page by page.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { offer, retailer } from '../support/fixtures.ts';
import { GENERATORS, requireGenerators } from '../support/generators.ts';
import { TestNode } from '../support/test-node.ts';

const ROOT = join(import.meta.dir, '../../..');
const TYPESCRIPT = join(ROOT, 'node_modules/.bin/tsc');
const DOCUMENT = readFileSync(join(ROOT, 'docs/generators.md'), 'utf8');
const STRICT = [
  ...['--strict', '--noEmit', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'],
  ...['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')],
];

/** The sections that have a command and a program. */
const RECIPES = DOCUMENT.split(/^## /m).flatMap((section) => {
  const block = (language: string) =>
    new RegExp(`^\`\`\`${language} generate\\n(.*?)^\`\`\`$`, 'ms').exec(section)?.[1];
  const [command, program] = [block('sh'), block('ts')];
  const name = section.split('\n')[0] ?? '';
  return command === undefined || program === undefined ? [] : [{ name, command, program }];
});

const node = await TestNode.start({ settings: { pageSize: 1 } });
await node.catalogue([
  retailer(1, { cashbackOffers: [offer(11)] }),
  retailer(2, { cashbackOffers: [offer(12, { countries: ['FR'] }), offer(13)] }),
]);
const token = await node.token('public');

beforeAll(requireGenerators, 180_000);
afterAll(() => node[Symbol.asyncDispose]());

async function run(command: readonly string[], cwd: string) {
  const env = { ...process.env, OFFERBOOK_PUBLIC_TOKEN: token };
  const { code, stdout, stderr } = await runProgram(command, { cwd, env });
  return { stdout, output: code === 0 ? '' : stdout + stderr, code };
}

test('the guide has a command and a program for three generators', () => {
  expect(RECIPES.map(({ name }) => name)).toEqual(['openapi-typescript', 'hey-api', 'orval']);
});

/** Only the first, because each keeps a core busy for some seconds. `npm run release:check` tests all of them. */
const TRIED = process.env.TEST_GENERATORS === 'all' ? RECIPES : RECIPES.slice(0, 1);

// Concurrent, because they do not depend on each other.
describe.concurrent.each(TRIED)('$name', ({ command, program }) => {
  test('the generated client compiles and lists the offers', async () => {
    const folder = temporaryFolder();
    const here = (text: string) => text.replaceAll('http://localhost:8080', node.url);
    symlinkSync(join(GENERATORS, 'node_modules'), join(folder, 'node_modules'));
    await Bun.write(join(folder, 'package.json'), '{"type":"module"}');
    await Bun.write(join(folder, 'program.ts'), here(program));

    const generated = await run(['sh', '-euc', here(command)], folder);
    expect(generated).toMatchObject({ code: 0, output: '' });
    expect(await run([TYPESCRIPT, ...STRICT, 'program.ts'], folder)).toMatchObject({ code: 0, output: '' });
    expect((await run([process.execPath, 'program.ts'], folder)).stdout).toBe(
      'Retailer 1 0.05\nRetailer 2 0.05\n',
    );
  }, 180_000);
});
