// The commands in the guides for integrators, run as written against a service, with two tokens and an orgId.

import { expect } from 'bun:test';
import { runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { blocksOf } from '../support/documents.ts';
import { coupon, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestNode } from '../support/test-node.ts';
import { testsWith } from '../support/tests-with.ts';

const { afterAll, test } = testsWith('bash', 'curl');

const node = await TestNode.start();
await node.catalogue(
  [1, 2, 3].map((number) =>
    retailer(number, {
      cashbackOffers: [offer(10 + number)],
      coupons: [coupon(20 + number)],
      promotions: [promotion(30 + number)],
    }),
  ),
);
await node.transactions([transaction(101), transaction(102)]);
const tokens = await node.tokens();
const { publicId } = await node.organisation();
await node.links();
const nodeEnv = {
  ...process.env,
  OFFERBOOK_PUBLIC_TOKEN: tokens.public,
  OFFERBOOK_PRIVATE_TOKEN: tokens.private,
  OFFERBOOK_ORG_ID: publicId,
};

afterAll(() => node[Symbol.asyncDispose]());

interface Service {
  readonly url: string;
  readonly env: Record<string, string | undefined>;
}

/** Returns the output of a guide's commands. Commands that set placeholder tokens are not run. */
async function run(
  document: string,
  { url, env }: Service = { url: node.url, env: nodeEnv },
): Promise<string> {
  const commands = blocksOf(`docs/${document}`)
    .filter(({ kind, code }) => kind === 'guide' && !code.includes('…'))
    .map(({ code }) => code)
    .join('\necho\n')
    .replaceAll('http://localhost:8080', url);
  const { code, stdout, stderr } = await runProgram(['bash', '-euo', 'pipefail', '-c', commands], {
    cwd: temporaryFolder(),
    env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain('"requestId"');
  return stdout;
}

test('the commands in docs/getting-started.md list retailers, offers and transactions, and record a click', async () => {
  const [retailers = '', offers = '', ...others] = (await run('getting-started.md')).trim().split('\n');
  expect(JSON.parse(retailers)).toMatchObject({
    data: [{ name: 'Retailer 1' }, { name: 'Retailer 2' }],
    cursor: expect.any(String),
  });
  expect((JSON.parse(offers) as { data: unknown[] }).data).toHaveLength(3);
  expect(others.join('\n')).toMatch(/^complete-through: /im);
  // A header of a page before the last one would be an unsafe position.
  const walk = others.find((line) => line.startsWith('{"data"')) ?? '';
  expect(Object.keys(JSON.parse(walk) as object)).toEqual(['data']);
  expect(others.join('\n')).toMatch(/^HTTP\/1\.1 302 Found\r$/m);
  expect(others.join('\n')).toMatch(/^location: https:\/\/www\.r1\.example\/\r$/im);
});

test('in docs/limits.md, the loop fetches every coupon, and the last request gets 304 without a body', async () => {
  const printed = await run('limits.md');
  const coupons = printed.slice(0, printed.indexOf('HTTP/1.1 '));
  expect(coupons.match(/CODE2\d/g)).toEqual(['CODE21', 'CODE22', 'CODE23']);
  expect(printed.slice(coupons.length)).toStartWith('HTTP/1.1 304 Not Modified');
});

test('the commands in docs/activation.md reach a page of the toy shop, record a click, and find the sale', async () => {
  await using sandbox = await Sandbox.start(temporaryFolder());
  const env = {
    ...process.env,
    OFFERBOOK_PUBLIC_TOKEN: sandbox.token('pub'),
    OFFERBOOK_PRIVATE_TOKEN: sandbox.token('prv'),
    OFFERBOOK_ORG_ID: sandbox.orgId,
  };
  const printed = await run('activation.md', { url: sandbox.url, env });
  expect(printed.trim().split(/\s*\n\s*/)).toEqual([
    expect.stringMatching(
      /A real shop would show <code>https:\/\/[\w.-]+\.example\/spades\?size=l<\/code>\.<\/p>$/,
    ),
    expect.stringMatching(/^offerbook-click: recorded$/i),
    '"status":"PENDING"',
  ]);
});
