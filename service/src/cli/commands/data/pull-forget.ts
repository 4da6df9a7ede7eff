// offerbook pull forget: for a source that is no longer pulled.

import { printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import manifest from '../../../../package.json';
import { systemClock } from '../../../domain/clock.ts';
import { forgetSource } from '../../../pull/forget-source.ts';
import { jsonCommand, type StoreOptions, withStores } from '../../command.ts';
import { currentUser } from '../../current-user.ts';
import { printResult } from '../../output.ts';

export function forgetCommand(): Command {
  return jsonCommand(
    'forget',
    'forget a source that you no longer pull: withdraw its retailers and delete its state; sales stay',
    'offerbook pull forget awin:77777',
  )
    .argument('<source>', 'network and account, as in offerbook pull status')
    .action(forget);
}

async function forget(source: string, options: StoreOptions): Promise<void> {
  await withStores(options, async (stores) => {
    const states = await stores.pulls.list();
    if (!states.some((state) => state.source === source)) {
      throw new BadInput(`${source} has not been pulled; offerbook pull status lists all sources`);
    }
    const by = currentUser();
    const { withdrawn } = await forgetSource(source, { by, version: manifest.version }, stores, systemClock);
    const text = `Forgot ${source}: ${printCountOf(withdrawn, 'retailer')} withdrawn. Its sales were kept.`;
    await printResult(options, { source, withdrawn }, text);
  });
}
