// Samples for JavaScript, using only Node's fetch.

import { POSITION_FILE, printFields, printParameters, type SampleLanguage } from './sample-code.ts';

export const nodeFetch: SampleLanguage = {
  lang: 'JavaScript',
  label: 'Node fetch',
  list: (request) => `import { env } from 'node:process';

const headers = { Authorization: \`Bearer \${env.${request.tokenVariable}}\` };
const query = new URLSearchParams({ ${printParameters(request, (name, value) => `${name}: '${value}'`)} });
let page;
do {
  const response = await fetch(\`${request.baseUrl}${request.path}?\${query}\`, { headers });
  if (!response.ok) throw new Error(await response.text());
  page = await response.json();
  for (const ${request.itemName} of page.data) console.log(${printFields(request)});
  query.set('cursor', page.cursor);
} while (page.cursor !== undefined);`,
  poll: (request) => `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { env } from 'node:process';

const headers = { Authorization: \`Bearer \${env.${request.tokenVariable}}\` };
const query = new URLSearchParams();
// The first run has no file and fetches all transactions.
if (existsSync('${POSITION_FILE}')) {
  query.set('updatedAtGreaterThan', readFileSync('${POSITION_FILE}', 'utf8'));
}
let page;
let complete;
do {
  const response = await fetch(\`${request.baseUrl}${request.path}?\${query}\`, { headers });
  if (!response.ok) throw new Error(await response.text());
  page = await response.json();
  // Store each one under its id.
  for (const ${request.itemName} of page.data) console.log(${printFields(request)});
  const through = response.headers.get('Complete-Through');
  if (complete === undefined || through < complete) complete = through;
  query.set('cursor', page.cursor);
} while (page.cursor !== undefined);
// Save the position last, once everything before it has been stored.
writeFileSync('${POSITION_FILE}', complete);`,
};
