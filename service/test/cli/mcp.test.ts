// offerbook mcp, as a process, with the SDK's own client over stdio.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ServiceProcess } from '../../../client/test/support/service-process.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { COMMAND, cleanEnvironment, offerbook } from '../support/command.ts';
import { coupon, id, offer, retailer, transaction } from '../support/fixtures.ts';

let service: ServiceProcess;
let tokens: { public: string; private: string };

beforeAll(async () => {
  service = await ServiceProcess.start();
  tokens = { public: await service.token('public'), private: await service.token('private') };
  const offers = Array.from({ length: 30 }, (_, number) => offer(100 + number));
  await service.importCatalogue([
    retailer(1, { name: 'Green Thumb', cashbackOffers: offers, coupons: [coupon(200)] }),
  ]);
  await service.importTransactions([transaction(1), transaction(2)]);
});

afterAll(() => service[Symbol.asyncDispose]());

function environment(kinds: readonly ('public' | 'private')[]): Record<string, string> {
  const own = kinds.map((kind) => [`OFFERBOOK_${kind.toUpperCase()}_TOKEN`, tokens[kind]]);
  return Object.fromEntries([...Object.entries(cleanEnvironment()), ...own].filter(([, value]) => value));
}

async function connect(kinds: readonly ('public' | 'private')[] = ['public', 'private'], url = service.url) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: COMMAND, args: ['mcp', '--url', url], env: environment(kinds) }),
  );
  return {
    client,
    [Symbol.asyncDispose]: () => client.close(),
    /** Returns a tool's text, and whether it is an error. */
    async call(name: string, given: Record<string, unknown> = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: given });
      return { text: (content as { text: string }[]).map(({ text }) => text).join(''), isError };
    },
  };
}

async function fetched(path: string, kind: 'public' | 'private' = 'public'): Promise<string> {
  const response = await fetch(service.url + path, { headers: { Authorization: `Bearer ${tokens[kind]}` } });
  return response.text();
}

describe('the tools', () => {
  test('there is a read-only tool for every operation, described as in the OpenAPI document', async () => {
    await using agent = await connect();
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...OPERATIONS.map((operation) => operation.id),
      'activationLink',
    ]);
    const document = JSON.parse(await service.run(['openapi'])) as {
      paths: Record<
        string,
        { get: { operationId: string; description: string; parameters: { name: string; schema: object }[] } }
      >;
    };
    for (const { get } of Object.values(document.paths)) {
      const tool = tools.find(({ name }) => name === get?.operationId);
      if (tool === undefined) continue;
      expect(tool.description).toBe(get.description);
      expect(tool.annotations?.readOnlyHint).toBe(true);
      for (const { name, schema } of get.parameters.filter((parameter) => parameter.name !== 'limit'))
        expect(tool.inputSchema.properties?.[name]).toMatchObject(schema);
    }
  });

  test('without a private token there are no tools for transactions, and without a public token none for the catalogue', async () => {
    await using shopper = await connect(['public']);
    await using accountant = await connect(['private']);
    const namesOf = async ({ client }: typeof shopper) =>
      (await client.listTools()).tools.map(({ name }) => name);
    const idsOf = (kind: string) =>
      OPERATIONS.filter(({ tokenKind }) => tokenKind === kind).map((one) => one.id);
    expect(await namesOf(shopper)).toEqual([...idsOf('public'), 'activationLink']);
    expect(await namesOf(accountant)).toEqual([...idsOf('private'), 'activationLink']);
  });
});

describe('calling a tool', () => {
  test("returns the API's response, with 20 items per page by default", async () => {
    await using agent = await connect();
    expect(await agent.call('listCashbackOffers', { name: 'green', country: 'DE' })).toEqual({
      text: await fetched('/v1/cashback-offers/?name=green&country=DE&limit=20'),
      isError: false,
    });
    expect(await agent.call('listCoupons', { limit: 1 })).toEqual({
      text: await fetched('/v1/coupons/?limit=1'),
      isError: false,
    });
    expect(await agent.call('getCoupon', { id: id(200) })).toEqual({
      text: await fetched(`/v1/coupons/${id(200)}/`),
      isError: false,
    });
    expect(await agent.call('listTransactions')).toEqual({
      text: await fetched('/v1/transactions/?limit=20', 'private'),
      isError: false,
    });
  });

  test('returns an activation link without calling the service', async () => {
    await using agent = await connect(['public'], 'http://127.0.0.1:1');
    const given = { deal: 'coupon', id: id(200), orgId: id(9), passbackUid: 'user 1' };
    expect(await agent.call('activationLink', given)).toEqual({
      text: `http://127.0.0.1:1/v1/coupons/${id(200)}/activate/?orgId=${id(9)}&passbackUid=user%201`,
      isError: false,
    });
  });

  test('reports invalid arguments, unknown ids and outages as errors that the agent can read', async () => {
    await using agent = await connect();
    for (const [name, given, reason] of [
      ['listCoupons', { page: 2 }, 'page'],
      ['listCoupons', { limit: 5_000 }, 'limit'],
      ['getCoupon', { id: '../../openapi.json' }, 'id'],
      ['getCoupon', { id: id(999) }, 'deal_not_found'],
    ] as const) {
      const { text, isError } = await agent
        .call(name, given)
        .catch((error: Error) => ({ text: error.message, isError: true }));
      expect([isError, text.includes(reason)]).toEqual([true, true]);
    }
    await using lost = await connect(['public'], 'http://127.0.0.1:1');
    expect(await lost.call('listCoupons')).toMatchObject({
      text: expect.stringMatching(/^The service did not respond: /),
      isError: true,
    });
  });
});

test('mcp needs a token of the right kind, and never prints it', async () => {
  const run = (env: Record<string, string>) => offerbook(['mcp', '--url', service.url], { env });
  expect(await run({})).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'offerbook: set OFFERBOOK_PUBLIC_TOKEN or OFFERBOOK_PRIVATE_TOKEN; tokens are never passed as arguments\n',
  });
  expect(await run({ OFFERBOOK_PUBLIC_TOKEN: tokens.private })).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'offerbook: OFFERBOOK_PUBLIC_TOKEN contains a private token; set OFFERBOOK_PRIVATE_TOKEN instead\n',
  });
});

test('mcp exits with 0 when the agent closes its input', async () => {
  const { code, stderr } = await offerbook(['mcp', '--url', service.url], {
    env: { OFFERBOOK_PUBLIC_TOKEN: tokens.public },
  });
  expect([code, stderr]).toEqual([0, '']);
});
