// offerbook openapi: prints the document that a server with the same environment serves at /openapi.json.

import { Command } from 'commander';
import { readServeSettings } from '../../../config.ts';
import { openApiDocument } from '../../../http/openapi/openapi-document.ts';
import { urlOf } from '../../node/listen.ts';
import { print } from '../../output.ts';

export function openApiCommand(): Command {
  return new Command('openapi')
    .description('print the OpenAPI 3.1 document')
    .option('--json', 'accepted for consistency; the output is always JSON')
    .addHelpText('after', '\nExample:\n  offerbook openapi > openapi.json')
    .action(async () => {
      const settings = readServeSettings({});
      const document = await openApiDocument(settings, urlOf('localhost', settings.port));
      await print(`${JSON.stringify(document)}\n`);
    });
}
