// Samples for the shell: a single request. A look-up first finds an id, so that it works when pasted.

import { printUrl, type SampleLanguage } from './sample-code.ts';

export const curl: SampleLanguage = {
  lang: 'Shell',
  label: 'curl',
  list: (request) => `curl -H "Authorization: Bearer $${request.tokenVariable}" \\
  '${printUrl(request)}'`,
  poll: (request) => `curl -i -H "Authorization: Bearer $${request.tokenVariable}" \\
  '${printUrl(request)}'
# Follow the Link header to the last page, and store every row under its id.
# After the last page, continue from the smallest Complete-Through header of those pages:
#   ${request.path}?updatedAtGreaterThan=<Complete-Through>`,
  get: ({ baseUrl, path, itemName, tokenVariable }) => `# The first ${itemName} in the list.
ID=$(curl -s -H "Authorization: Bearer $${tokenVariable}" '${baseUrl}${path.replace('{id}/', '')}?limit=1' |
  grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)
curl -H "Authorization: Bearer $${tokenVariable}" \\
  "${baseUrl}${path.replace('{id}', '$ID')}"`,
};
