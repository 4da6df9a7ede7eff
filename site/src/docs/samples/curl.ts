// Samples for the shell: a single request.

import { printUrl, type SampleLanguage, type SampleRequest } from './sample-code.ts';

export const curl: SampleLanguage = {
  lang: 'Shell',
  label: 'curl',
  list: (request) => `curl -H "Authorization: Bearer $OFFERBOOK_TOKEN" \\
  '${printUrl(request)}'`,
  poll: (request: SampleRequest) => `curl -i -H "Authorization: Bearer $OFFERBOOK_TOKEN" \\
  '${printUrl(request)}'
# Follow the Link header to the last page, and store every row under its id.
# Then request the changes since the smallest Complete-Through header of those pages:
#   ${request.path}?updatedAtGreaterThan=<Complete-Through>`,
};
