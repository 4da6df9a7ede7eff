// How to call each operation with curl, TypeScript and Python. Part of the OpenAPI document; tests run them
// as they are.

import type { Operation } from '../operations/operations.ts';

export interface CodeSample {
  readonly lang: 'Shell' | 'TypeScript' | 'Python';
  readonly label: string;
  readonly source: string;
}

/** Where `npm start` listens; for operators who have not said where callers reach the service. */
const LOCAL_URL = 'http://localhost:8080';

interface Example {
  readonly method: string;
  readonly item: string;
  /** Fields of an item that say something on a line. */
  readonly fields: readonly string[];
  readonly query: Readonly<Record<string, string | number>>;
}

const EXAMPLES: Record<string, Example> = {
  listRetailers: { method: 'retailers', item: 'retailer', fields: ['name', 'url'], query: { limit: 100 } },
  listCashbackOffers: {
    method: 'cashbackOffers',
    item: 'offer',
    fields: ['name', 'cashbackPercentage'],
    query: { name: 'a', country: 'DE' },
  },
  listCoupons: { method: 'coupons', item: 'coupon', fields: ['code', 'endDate'], query: { limit: 100 } },
  listPromotions: {
    method: 'promotions',
    item: 'promotion',
    fields: ['description', 'deepLink'],
    query: { limit: 100 },
  },
  listTransactions: {
    method: 'transactions',
    item: 'transaction',
    fields: ['id', 'status', 'cashback'],
    query: { updatedAtGreaterThan: '2026-11-14T12:00:00' },
  },
};

export function codeSamples(operation: Operation, baseUrl = LOCAL_URL): CodeSample[] {
  const example = EXAMPLES[operation.id];
  if (example === undefined) throw new Error(`operation ${operation.id} has no example`);
  return [
    { lang: 'Shell', label: 'curl', source: curl(baseUrl, operation, example) },
    { lang: 'TypeScript', label: 'TypeScript', source: typeScript(baseUrl, example) },
    { lang: 'Python', label: 'Python', source: python(baseUrl, operation, example) },
  ];
}

function curl(baseUrl: string, { path }: Operation, { query }: Example): string {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return `curl -H "Authorization: Bearer $OFFERBOOK_TOKEN" \\
  '${baseUrl}${path}?${search}'`;
}

function typeScript(baseUrl: string, { method, item, fields, query }: Example): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}: ${quoted(value)}`);
  return `import { env } from 'node:process';
import { OfferbookClient } from '@offerbook/client';

const client = new OfferbookClient({
  baseUrl: '${baseUrl}',
  token: env.OFFERBOOK_TOKEN ?? '',
});
for await (const ${item} of client.${method}({ ${parameters.join(', ')} })) {
  console.log(${fields.map((field) => `${item}.${field}`).join(', ')});
}`;
}

function python(baseUrl: string, { path }: Operation, { item, fields, query }: Example): string {
  const parameters = Object.entries(query).map(([name, value]) => `'${name}': ${quoted(value)}`);
  return `import json
import os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

headers = {'Authorization': 'Bearer ' + os.environ['OFFERBOOK_TOKEN']}
query = {${parameters.join(', ')}}
while True:
    url = '${baseUrl}${path}?' + urlencode(query)
    with urlopen(Request(url, headers=headers)) as response:
        page = json.load(response)
    for ${item} in page['data']:
        print(${fields.map((field) => `${item}['${field}']`).join(', ')})
    if 'cursor' not in page:
        break
    query['cursor'] = page['cursor']`;
}

function quoted(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`;
}
