// offerbook openapi: prints the document that a server with the same environment serves at /openapi.json.

import type { Command } from 'commander';
import { readServeSettings } from '../../../config.ts';
import { openApiDocument } from '../../../http/openapi/openapi-document.ts';
import { plainCommand } from '../../command.ts';
import { urlOf } from '../../node/listen.ts';
import { print } from '../../output.ts';

export function openApiCommand(): Command {
  return plainCommand('openapi', 'print the OpenAPI 3.1 document', 'offerbook openapi > openapi.json')
    .option('--json', 'accepted for consistency; the output is always JSON')
    .action(async () => {
      const settings = readServeSettings({});
      const document = openApiDocument(settings, urlOf('localhost', settings.port));
      await print(`${JSON.stringify(document)}\n`);
    });
}
