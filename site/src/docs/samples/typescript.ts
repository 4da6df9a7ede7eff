// Samples with the client library.

import { printFields, printParameters, type SampleLanguage, type SampleRequest } from './sample-code.ts';

export const typeScript: SampleLanguage = {
  lang: 'TypeScript',
  label: 'TypeScript',
  list: (request) => `${IMPORTS}

${client(request)}
for await (const ${request.itemName} of client.${request.clientMethod}(${parameters(request)})) {
  console.log(${printFields(request)});
}`,
  get: (request) => `${IMPORTS}

${client(request)}
const { data } = await client.${request.clientMethod}({ limit: 1 });
for (const { id } of data) {
  const ${request.itemName} = await client.${request.clientMethod}.get(id);
  console.log(${printFields(request)});
}`,
  poll: (request) => `${IMPORTS}
import { fileCheckpoint } from '@offerbook/client/node';

${client(request)}
// The first run returns everything, later runs return changes. Without once, the loop never ends.
const changes = client.followTransactions({ store: fileCheckpoint('checkpoint.txt'), once: true });
for await (const ${request.itemName} of changes) {
  // Store each one under its id.
  console.log(${printFields(request)});
}`,
};

const IMPORTS = `import { env } from 'node:process';
import { OfferbookClient } from '@offerbook/client';`;

function client({ baseUrl, tokenVariable }: SampleRequest): string {
  return `const client = new OfferbookClient({
  baseUrl: '${baseUrl}',
  token: env.${tokenVariable} ?? '',
});`;
}

/** The client's parameters are typed, so numbers have no quotes. */
function parameters(request: SampleRequest): string {
  const printed = printParameters(request, (name, value) =>
    typeof value === 'number' ? `${name}: ${value}` : `${name}: '${value}'`,
  );
  return printed === '' ? '' : `{ ${printed} }`;
}
