// offerbook probe: asks a running service whether it is live. For health checks of containers, which have no curl.

import { BadInput, FaultFound } from '@offerbook/wire/failures.ts';
import { Command } from 'commander';
import { isOfferbook } from '../doctor/probe.ts';
import { print, printNote } from '../output.ts';

export function probeCommand(): Command {
  return new Command('probe')
    .description('ask a running service whether it is live; ends with 1 if it is not')
    .argument('[url]', 'where it is', 'http://127.0.0.1:8080')
    .addHelpText('after', '\nExample:\n  offerbook probe http://127.0.0.1:8080')
    .action(probe);
}

async function probe(url: string): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new BadInput(`"${url}" is no address of a service`);
  }
  if (await isOfferbook(new URL(url).origin)) return print('live\n');
  printNote(`offerbook: ${url} does not say that it is live`);
  throw new FaultFound('not live');
}
