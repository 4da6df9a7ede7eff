// The samples in the OpenAPI document, run as they are.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { newTokenText } from '../../src/domain/access-token.ts';
import type { OperationId } from '../../src/http/operations/operation.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { codeSamples } from '../../src/http/site/code-samples.ts';
import { coupon, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

/** Beside the sources, so that a sample finds the client by its name. */
const FOLDER = join(import.meta.dir, '..');

const PROGRAMS: Record<string, (source: string) => string[]> = {
  Shell: (source) => ['bash', '-c', source],
  TypeScript: (source) => [process.execPath, '-e', source],
  Python: (source) => ['python3', '-c', source],
};

/** What the output of each operation's samples holds. */
const EXPECTED: Record<OperationId, string> = {
  listRetailers: 'Retailer 1',
  listCashbackOffers: 'Retailer 1',
  listCoupons: 'CODE21',
  listPromotions: 'Promotion 31',
  listTransactions: 'PENDING',
};

const SAMPLES = OPERATIONS.flatMap((operation) =>
  codeSamples(operation).map((sample) => ({ ...sample, operation, id: operation.id })),
);

let node: TestNode;
let tokens: Record<string, string>;

beforeAll(async () => {
  node = await TestNode.start();
  await node.catalogue([
    retailer(1, { cashbackOffers: [offer(11)], coupons: [coupon(21)], promotions: [promotion(31)] }),
  ]);
  await node.transactions([transaction(101)]);
  tokens = { public: await node.token('public'), private: await node.token('private') };
});

afterAll(() => node?.[Symbol.asyncDispose]());

async function run(program: string, source: string, token: string) {
  const command = PROGRAMS[program]?.(source.replaceAll('http://localhost:8080', node.url)) ?? [];
  const child = Bun.spawn(command, {
    cwd: FOLDER,
    env: { ...process.env, OFFERBOOK_TOKEN: token },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return { stdout, code };
}

describe.each(SAMPLES)('$id in $label', ({ lang, source, operation }) => {
  const isMissing = lang === 'Python' && Bun.which('python3') === null;

  test.skipIf(isMissing)(
    'works as it is',
    async () => {
      const { stdout, code } = await run(lang, source, tokens[operation.tokenKind] ?? '');
      expect(stdout).toContain(EXPECTED[operation.id]);
      expect(code).toBe(0);
    },
    30_000,
  );
});

test('no sample holds a token', () => {
  expect(SAMPLES.filter(({ source }) => source.includes(newTokenText('public').slice(0, 6)))).toEqual([]);
});
