// Runs the samples of the OpenAPI document unchanged.

import { afterAll, describe, expect, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { activationOperations } from '@offerbook/site/docs/api-document.ts';
import { codeSamples } from '@offerbook/site/docs/code-samples.ts';
import { installPackage } from '../../../client/test/support/installed-package.ts';
import { newTokenText } from '../../src/domain/access-token.ts';
import { openApiDocument } from '../../src/http/openapi/openapi-document.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { coupon, id, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { lacks, type ProgramName } from '../support/programs.ts';
import { TestNode } from '../support/test-node.ts';

/** How to run a sample in the folder that contains its file. */
interface Runner {
  readonly file: string;
  readonly command: readonly string[];
  readonly needs: readonly ProgramName[];
  /** True for languages that start slowly. All lists have the same program, so run only one of them. */
  readonly isSlow?: true;
}

const RUNNERS: Record<string, Runner> = {
  curl: { file: 'sample.sh', command: ['bash', 'sample.sh'], needs: ['bash', 'curl'] },
  TypeScript: { file: 'sample.ts', command: [process.execPath, 'sample.ts'], needs: [] },
  'Node fetch': { file: 'sample.mjs', command: ['node', 'sample.mjs'], needs: [], isSlow: true },
  Python: { file: 'sample.py', command: ['python3', 'sample.py'], needs: ['python'], isSlow: true },
  PHP: { file: 'sample.php', command: ['php', 'sample.php'], needs: ['php'], isSlow: true },
  Go: { file: 'sample.go', command: ['go', 'run', 'sample.go'], needs: ['go'], isSlow: true },
  Java: {
    file: 'Sample.java',
    command: ['java', '-XX:TieredStopAtLevel=1', 'Sample.java'],
    needs: ['java'],
    isSlow: true,
  },
};

/** Text printed from the first and the second page of each list, or from an item. */
const PRINTED: Record<string, readonly string[]> = {
  listRetailers: ['Retailer 1', 'Retailer 2'],
  listCashbackOffers: ['Retailer 1', 'Retailer 2'],
  listCoupons: ['CODE21', 'CODE22'],
  listPromotions: ['Promotion 31', 'Promotion 32'],
  listDomains: ['Retailer 1', 'Retailer 2'],
  getRetailer: ['Retailer 1'],
  getCashbackOffer: ['Retailer 1'],
  getCoupon: ['CODE21'],
  getPromotion: ['Promotion 31'],
};

const SAMPLES = OPERATIONS.flatMap((operation) =>
  codeSamples(operation).map((sample) => ({ ...sample, runner: RUNNERS[sample.label], id: operation.id })),
);

/** Path of node_modules in a project where the client is installed. */
const modules = join((await installPackage()).folder, 'node_modules');
// One item per page, so that every program has to follow the cursor.
const node = await TestNode.start({ settings: { pageSize: 1 } });
await node.catalogue(
  [1, 2].map((number) =>
    retailer(number, {
      cashbackOffers: [offer(10 + number)],
      coupons: [coupon(20 + number)],
      promotions: [promotion(30 + number)],
    }),
  ),
);
const token = await node.token('public');

afterAll(() => node[Symbol.asyncDispose]());

test('this test can run every language of the code samples', () => {
  expect(SAMPLES.filter(({ runner }) => runner === undefined)).toEqual([]);
});

/** Creates a project folder and installs the client in it. */
function newFolder(): string {
  const folder = temporaryFolder();
  symlinkSync(modules, join(folder, 'node_modules'));
  return folder;
}

async function run(
  runner: Runner | undefined,
  source: string,
  token: string,
  cwd: string,
  variables: Record<string, string | undefined> = {},
): Promise<string> {
  if (runner === undefined) throw new Error('there is no runner for this language');
  await Bun.write(join(cwd, runner.file), source.replaceAll('http://localhost:8080', node.url));
  const env = { ...process.env, OFFERBOOK_PUBLIC_TOKEN: token, OFFERBOOK_PRIVATE_TOKEN: token, ...variables };
  const { code, stdout, stderr } = await runProgram(runner.command, { cwd, env });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe.each(
  SAMPLES.filter(
    ({ id, runner }) => PRINTED[id] !== undefined && !(runner?.isSlow && id !== 'listCashbackOffers'),
  ),
)('$id in $label', (sample) => {
  test.skipIf(lacks(...(sample.runner?.needs ?? [])))(
    'the sample prints every page, or the item',
    async () => {
      const { id, label, runner, source } = sample;
      const stdout = await run(runner, source, token, newFolder());
      // The curl sample sends only one request.
      const expected = PRINTED[id]?.slice(0, label === 'curl' ? 1 : 2) ?? [];
      expect(expected.filter((text) => stdout.includes(text))).toEqual(expected);
    },
  );
});

describe.each(SAMPLES.filter(({ id }) => id === 'listTransactions'))('$id in $label', (sample) => {
  test.skipIf(lacks(...(sample.runner?.needs ?? [])))(
    'the sample fetches everything in the first run, and only changes in the next',
    async () => {
      const { label, runner, source } = sample;
      const number = 100 + SAMPLES.indexOf(sample) * 10;
      const org = label;
      await node.transactions([transaction(number), transaction(number + 1)], org);
      const own = await node.token('private', org);
      const folder = newFolder();
      const poll = async () => (await run(runner, source, own, folder)).match(/PENDING|CONFIRMED/g) ?? [];
      if (label === 'curl') {
        expect(await poll()).toEqual(['PENDING']);
        return;
      }
      expect(await poll()).toEqual(['PENDING', 'PENDING']);
      await node.transactions([transaction(number, { status: 'CONFIRMED' })], org);
      expect(await poll()).toEqual(['CONFIRMED']);
    },
  );
});

describe.each(SAMPLES.filter(({ id }) => id === 'getTransaction'))('$id in $label', (sample) => {
  test.skipIf(lacks(...(sample.runner?.needs ?? [])))('the sample prints the transaction', async () => {
    await node.transactions([transaction(99)], 'one sale');
    const own = await node.token('private', 'one sale');
    expect(await run(sample.runner, sample.source, own, newFolder())).toContain(id(99));
  });
});

test.skipIf(lacks('bash', 'curl'))(
  'the curl samples for activation record a click and redirect',
  async () => {
    const document = openApiDocument();
    const operations = activationOperations(document).flatMap(([, { get, post }]) => [
      get,
      ...(post ? [post] : []),
    ]);
    const { publicId } = await node.organisation();
    await node.links();
    const printed = await Promise.all(
      operations.map(async ({ operationId, 'x-codeSamples': samples }) => {
        expect(samples.map(({ label }) => label)).toEqual(['curl']);
        const stdout = await run(RUNNERS.curl, samples[0]?.source ?? '', token, newFolder(), {
          OFFERBOOK_ORG_ID: publicId,
        });
        return [operationId, /^HTTP\/1.1 \d+|^{"url":".*\/go\//.exec(stdout)?.[0].replace(node.url, '')];
      }),
    );
    expect(Object.fromEntries(printed)).toEqual({
      followRetailer: 'HTTP/1.1 302',
      activateRetailer: '{"url":"/go/',
      followCashbackOffer: 'HTTP/1.1 302',
      activateCashbackOffer: '{"url":"/go/',
      followCoupon: 'HTTP/1.1 302',
      activateCoupon: '{"url":"/go/',
      followPromotion: 'HTTP/1.1 302',
      activatePromotion: '{"url":"/go/',
      followClick: 'HTTP/1.1 302',
    });
    const clicks = (await node.stores.clicks.list(100)).map(({ kind, dealId }) => `${kind} ${dealId}`);
    // One activation by GET and one by POST; only the coupon's link is followed.
    expect(clicks.sort()).toEqual(
      Object.entries({ retailers: id(1), cashbackOffers: id(11), coupons: id(21), promotions: id(31) })
        .flatMap(([kind, dealId]) => [`${kind} ${dealId}`, `${kind} ${dealId}`])
        .sort(),
    );
  },
);

test('no code sample contains a token', () => {
  expect(SAMPLES.filter(({ source }) => source.includes(newTokenText('public').slice(0, 6)))).toEqual([]);
});
