// The OpenAPI document: valid, free of lint warnings, the same from the server and the command, and true.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { ERROR_CODES } from '../../src/domain/api-errors.ts';
import { type OpenApiDocument, openApiDocument } from '../../src/http/openapi/openapi-document.ts';
import { LISTS, OPERATIONS } from '../../src/http/operations/operations.ts';
import { offerbook } from '../support/command.ts';
import { answerProblems } from '../support/documented-answers.ts';
import { coupon, ITEM_NUMBERS, id, offer, promotion, retailer, transaction } from '../support/fixtures.ts';
import { TestNode } from '../support/test-node.ts';

const ROOT = join(import.meta.dir, '../../..');
const document = openApiDocument();
const PAGINATED = LISTS.filter(({ parameters }) => parameters.includes('cursor'));

test("the document passes Redocly's recommended rules without warnings, except for those disabled in redocly.yaml", async () => {
  const config = await loadConfig({ configPath: join(ROOT, 'redocly.yaml') });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  expect(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
  ).toEqual([]);
});

test("the document passes Spectral's rules without hints, except for those disabled in .spectral.yaml", async () => {
  const { extends: bases, rules } = Bun.YAML.parse(readFileSync(join(ROOT, '.spectral.yaml'), 'utf8')) as {
    extends: string[];
    rules: Record<string, 'off'>;
  };
  expect(bases).toEqual(['spectral:oas']);
  const spectral = new spectralCore.Spectral();
  const ruleset = { extends: [spectralRulesets.oas], rules };
  spectral.setRuleset(ruleset as unknown as Parameters<typeof spectral.setRuleset>[0]);
  const problems = await spectral.run(JSON.parse(JSON.stringify(document)));
  expect(problems.map(({ code, message, path }) => `${code}: ${message} at ${path.join('.')}`)).toEqual([]);
});

// The linters take seconds, so they check only the whole document. This one has fewer operations.
test('without activation, the document refers to each of its components and tags, and to no others', async () => {
  const settings = {
    pageSize: 50,
    publicUrl: 'https://api.example',
    currency: 'EUR',
    activation: 'off',
  } as const;
  const smaller = openApiDocument(settings);
  const { components, tags, paths } = smaller;
  const defined = Object.entries(components).flatMap(([kind, members]) =>
    Object.keys(members).map((name) => `#/components/${kind}/${name}`),
  );
  // Security schemes are referred to by name.
  const named = defined.filter((pointer) => !pointer.includes('/securitySchemes/'));
  const referred = [...JSON.stringify(smaller).matchAll(/"\$ref":"(.+?)"/g)].map(([, pointer]) => pointer);
  expect(new Set(referred)).toEqual(new Set(named));
  const used = Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags ?? []));
  expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
});

test('the linters ignore only the trailing slashes, which the specification requires', () => {
  const rulesIn = (file: string) =>
    (Bun.YAML.parse(readFileSync(join(ROOT, file), 'utf8')) as { rules: object }).rules;
  expect<object>(rulesIn('redocly.yaml')).toEqual({ 'no-path-trailing-slash': 'off' });
  expect<object>(rulesIn('.spectral.yaml')).toEqual({ 'path-keys-no-trailing-slash': 'off' });
});

test("no schema forbids additional fields, so responses can gain fields later, or declares a dialect other than the document's", () => {
  expect(JSON.stringify(document)).not.toMatch(/additionalProperties|"\$schema"/);
});

test('every object schema has a name, and every field has a description, including nullable fields', () => {
  const schemas = document.components.schemas as Record<string, { properties: Record<string, object> }>;
  for (const [name, { properties }] of Object.entries(schemas)) {
    for (const [field, schema] of Object.entries(properties)) {
      expect([`${name}.${field}`, schema]).toEqual([
        `${name}.${field}`,
        expect.objectContaining({ description: expect.any(String) }),
      ]);
      expect(JSON.stringify(schema)).not.toContain('properties');
    }
  }
  expect(Object.keys(schemas)).toEqual([
    ...['Retailer', 'RetailerOffer', 'RetailerCoupon', 'RetailerPromotion', 'RetailerPage'],
    ...['CashbackOffer', 'CashbackOfferPage', 'Coupon', 'CouponPage', 'Promotion', 'PromotionPage'],
    ...['RetailerDomains', 'RetailerDomainsPage'],
    ...[
      'Transaction',
      'TransactionRetailer',
      'TransactionPage',
      'TransactionsChanged',
      'TransactionChanges',
      'ActivatedDeal',
      'Problem',
      'ParameterError',
    ],
  ]);
});

// A Java client parses `uri` strictly: one shop's URL would fail a whole page.
test('every format is registered, and URLs of shops, which may break RFC 3986, have none', () => {
  const formats = [...JSON.stringify(document).matchAll(/"format":"(.+?)"/g)].map(([, format]) => format);
  expect([...new Set(formats)].toSorted()).toEqual(['date-time-local', 'uri', 'uri-reference', 'uuid']);
  const schemas = document.components.schemas as Record<string, { properties: Record<string, object> }>;
  const { url, logo } = schemas.Retailer?.properties ?? {};
  for (const schema of [url, logo, schemas.RetailerPromotion?.properties.deepLink]) {
    expect(schema).toEqual({
      type: 'string',
      maxLength: 65_536,
      description: expect.stringContaining('RFC 3986'),
      examples: [expect.any(String)],
    });
  }
});

/** The operations that return one page after the other. */
function listsOf({ paths }: OpenApiDocument) {
  return PAGINATED.map(({ path }) => paths[path]?.get).filter((get) => get !== undefined);
}

test('the document describes how a page links to the next', () => {
  for (const get of listsOf(document)) {
    expect(get.responses[200]?.links?.nextPage).toMatchObject({
      operationId: get.operationId,
      parameters: { cursor: '$response.body#/cursor' },
    });
  }
});

test('the document reflects the settings: page size, public URL, currency, and whether activation is on', async () => {
  const publicUrl = 'https://api.example';
  await using node = await TestNode.start({
    settings: { pageSize: 7, publicUrl, currency: 'SEK', activation: 'off' },
  });
  const served = (await (await node.get('/openapi.json')).json()) as OpenApiDocument;
  const env = {
    OFFERBOOK_PAGE_SIZE: '7',
    OFFERBOOK_PUBLIC_URL: publicUrl,
    OFFERBOOK_CURRENCY: 'SEK',
    OFFERBOOK_ACTIVATION: 'off',
  };
  expect(JSON.parse((await offerbook(['openapi'], { env })).stdout)).toEqual(served);
  expect(served.servers).toEqual([{ url: publicUrl, description: 'This server' }]);
  const words = 'Fixed cashbacks (`maximumFixedCommissionFee`) are in SEK.';
  expect(served.info.description).toEndWith(words);
  const reference = await (await node.get('/docs/reference')).text();
  expect(reference).toContain('1 to 1000, default 7');
  expect(reference).toContain('Fixed cashbacks (<code>maximumFixedCommissionFee</code>) are in SEK.');
  expect(Object.keys(served.paths)).toEqual(OPERATIONS.map(({ path }) => path));
  expect(served.tags.map(({ name }) => name)).toEqual(['Catalogue', 'Transactions']);
  expect(JSON.stringify([served.paths, served.components.schemas])).not.toMatch(/\/activate\/|ActivatedDeal/);
  expect(reference).not.toMatch(/\/activate\/|id="activation"|#activation/);
  const index = (await (await node.get('/docs/search.json')).json()) as { url: string }[];
  expect(index.filter(({ url }) => url === '/docs/reference#activation')).toEqual([]);
  for (const get of listsOf(served)) {
    const limit = get.parameters.find(({ name }) => name === 'limit');
    expect(limit?.schema).toEqual({ type: 'integer', minimum: 1, maximum: 1000, default: 7 });
    for (const { source } of get['x-codeSamples']) {
      expect(source.match(/https?:\/\/[^/'"]+/g)).toEqual([publicUrl]);
    }
  }
});

test('the document refers readers to the operator if no currency is configured', () => {
  expect(document.info.description).toEndWith(
    'Fixed cashbacks (`maximumFixedCommissionFee`) are in one currency; ask the operator which one.',
  );
});

test('the document describes every operation with exactly the errors that it can return', () => {
  const operations = Object.entries(document.paths).filter(([, { get }]) => get.security.length > 0);
  expect(operations.map(([path]) => path)).toEqual(OPERATIONS.map(({ path }) => path));
  const responses = (path: string, method: 'get' | 'post') => document.paths[path]?.[method]?.responses ?? {};
  const ofLinks = ['deal_not_found', 'internal', 'method_not_allowed', 'several_hosts', 'unavailable'];
  ofLinks.push('uri_too_long', 'invalid_parameter');
  const ofPost = [...ofLinks, 'deal_gone', 'rate_limited'];
  const ofOthers = ['not_found', 'deal_not_found', 'transaction_not_found', 'deal_gone'];
  const ofAll = ERROR_CODES.filter((code) => !ofOthers.includes(code));
  const ofPublic = ofAll.filter((code) => code !== 'private_token_in_browser');
  for (const [path, method, expected] of [
    ['/v1/coupons/', 'get', ofPublic],
    ['/v1/coupons/{id}/', 'get', [...ofPublic, 'deal_not_found']],
    ['/v1/transactions/', 'get', ofAll],
    ['/v1/transactions/{id}/', 'get', [...ofAll, 'transaction_not_found']],
    ['/v1/coupons/{id}/activate/', 'get', ofLinks],
    ['/v1/coupons/{id}/activate/', 'post', ofPost],
    ['/go/{click}/', 'get', ofPost],
  ] as const) {
    const codes = Object.values(responses(path, method)).flatMap(({ content }) =>
      Object.keys(content?.['application/problem+json']?.examples ?? {}),
    );
    expect([path, method, codes.toSorted()]).toEqual([path, method, expected.toSorted()]);
  }
  const media = (status: number) =>
    Object.keys(responses('/v1/coupons/{id}/activate/', 'get')[status]?.content ?? {});
  expect(media(405)).toEqual(['application/problem+json']);
  expect(media(400)).toEqual(['application/problem+json', 'text/html']);
});

describe('checking real responses against the document', () => {
  test('the schema check accepts a successful response and an error of every operation', async () => {
    await using node = await TestNode.start();
    await node.catalogue([
      retailer(1, {
        cashbackOffers: [offer(11), offer(12)],
        coupons: [coupon(21)],
        promotions: [promotion(31)],
      }),
    ]);
    await node.transactions([transaction(101)]);
    const tokens = await node.tokens();
    const targets: Record<'page' | 'item', readonly [target: string, status: number][]> = {
      page: [
        ['?_=1', 200],
        ['?limit=0', 400],
      ],
      item: [
        ['', 200],
        ['x', 400],
        [id(999), 404],
      ],
    };
    for (const { path, returns, tokenKind, component } of OPERATIONS) {
      for (const [target, expected] of targets[returns]) {
        const place =
          returns === 'page'
            ? path + target
            : path.replace('{id}', target || id(ITEM_NUMBERS[component] ?? 0));
        const response = await node.get(place, tokens[tokenKind]);
        const { status, headers } = response;
        expect([place, status]).toEqual([place, expected]);
        expect(answerProblems(path, { status, headers, body: await response.text() })).toEqual([]);
      }
    }
  });

  test('the check reports deviations from the document', () => {
    const headers = new Headers({ 'Content-Type': 'application/json', 'X-New': '1' });
    const body = '{"data":[{"id":"1"}],"more":true}';
    const problems = answerProblems('/v1/coupons/', { status: 200, headers, body });
    expect(problems).toContain('the header Request-Id is missing');
    expect(problems).toContain('the header x-new is not documented');
    expect(problems).toContain('the body must NOT have additional properties');
    expect(problems).toContain('/data/0/id must match format "uuid"');
    expect(problems).toContain("/data/0 must have required property 'code'");
  });
});
