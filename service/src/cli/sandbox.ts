// offerbook sandbox: the service with believable data, for trying it out.

import type { Command } from 'commander';
import { command } from './command.ts';

export function sandboxCommand(): Command {
  return command('sandbox', 'try it out with synthetic data', 'offerbook sandbox --fresh');
}
