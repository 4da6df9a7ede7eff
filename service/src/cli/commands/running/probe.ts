// offerbook probe: checks that a service is live, for health checks in containers without curl.

import { BadInput, ServiceFailure } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import { plainCommand } from '../../command.ts';
import { livenessProblem } from '../../doctor/liveness-problem.ts';
import { print } from '../../output.ts';

export function probeCommand(): Command {
  return plainCommand(
    'probe',
    'check that a service is live; exits 1 if it is not',
    'offerbook probe http://127.0.0.1:8080',
  )
    .argument('[url]', 'URL of the service', 'http://127.0.0.1:8080')
    .action(probe);
}

async function probe(url: string): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new BadInput(`the URL must be of the form http://127.0.0.1:8080, not "${url}"`);
  }
  const problem = await livenessProblem(new URL(url).origin);
  if (problem !== undefined) throw new ServiceFailure(`${url} is not live: ${problem}`);
  await print('live\n');
}
