// How to call each operation with curl, TypeScript and Python. Part of the OpenAPI document; tests run them
// as they are.

import type { Operation, Sample } from '../operations/operation.ts';

export interface CodeSample {
  readonly lang: 'Shell' | 'TypeScript' | 'Python';
  readonly label: string;
  readonly source: string;
}

/** Where `npm start` listens; for operators who have not said where callers reach the service. */
const LOCAL_URL = 'http://localhost:8080';

export function codeSamples({ path, sample }: Operation, baseUrl = LOCAL_URL): CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: curl(baseUrl + path, sample) },
    { lang: 'TypeScript', label: 'TypeScript', source: typeScript(baseUrl, sample) },
    { lang: 'Python', label: 'Python', source: python(baseUrl + path, sample) },
  ];
}

function curl(url: string, { query }: Sample): string {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return `curl -H "Authorization: Bearer $OFFERBOOK_TOKEN" \\
  '${url}?${search}'`;
}

function typeScript(baseUrl: string, { clientMethod, itemName, printedFields, query }: Sample): string {
  const parameters = Object.entries(query).map(([name, value]) => `${name}: ${quoted(value)}`);
  return `import { env } from 'node:process';
import { OfferbookClient } from '@offerbook/client';

const client = new OfferbookClient({
  baseUrl: '${baseUrl}',
  token: env.OFFERBOOK_TOKEN ?? '',
});
for await (const ${itemName} of client.${clientMethod}({ ${parameters.join(', ')} })) {
  console.log(${printedFields.map((field) => `${itemName}.${field}`).join(', ')});
}`;
}

function python(url: string, { itemName, printedFields, query }: Sample): string {
  const parameters = Object.entries(query).map(([name, value]) => `'${name}': ${quoted(value)}`);
  return `import json
import os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

headers = {'Authorization': 'Bearer ' + os.environ['OFFERBOOK_TOKEN']}
query = {${parameters.join(', ')}}
while True:
    url = '${url}?' + urlencode(query)
    with urlopen(Request(url, headers=headers)) as response:
        page = json.load(response)
    for ${itemName} in page['data']:
        print(${printedFields.map((field) => `${itemName}['${field}']`).join(', ')})
    if 'cursor' not in page:
        break
    query['cursor'] = page['cursor']`;
}

function quoted(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`;
}
