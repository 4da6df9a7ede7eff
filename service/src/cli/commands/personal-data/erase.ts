// offerbook erase: removes a user from transactions (including their history) and from clicks. Amounts are kept. Clients
// receive the changed transactions as updates.

import { printCountsOf } from '@offerbook/wire/count.ts';
import type { Command } from 'commander';
import { jsonCommand, readStores, type StoreOptions, withStores } from '../../command.ts';
import { printResult } from '../../output.ts';
import { PASSBACK_UID_HELP, readPassbackUid } from '../../passback-uid.ts';
import { withProgressBar } from '../../progress-bar.ts';
import { getOrganisation } from '../access/organisations.ts';

export function eraseCommand(): Command {
  return jsonCommand(
    'erase',
    "erase a user's passbackUid and passbackData from transactions, history and clicks; amounts are kept",
    'offerbook erase --org acme --passback-uid - < user.txt',
  )
    .requiredOption('--org <name>', 'organisation of the user')
    .requiredOption('--passback-uid <text>', PASSBACK_UID_HELP)
    .option('--dry-run', 'print what would be erased; change nothing')
    .action(erase);
}

interface EraseOptions extends StoreOptions {
  readonly org: string;
  readonly passbackUid: string;
  readonly dryRun?: boolean;
}

async function erase(options: EraseOptions): Promise<void> {
  const passbackUid = await readPassbackUid(options.passbackUid);
  const isDryRun = options.dryRun === true;
  const useStores = isDryRun ? readStores : withStores;
  await useStores(options, async (stores) => {
    const org = await getOrganisation(stores, options.org, 'to read');
    const counts = isDryRun
      ? await stores.erasures.count(org.id, passbackUid)
      : await withProgressBar((show) => stores.erasures.erase(org, passbackUid, show));
    const { transactions, versions, clicks } = counts;
    const from = printCountsOf({ transactions, 'earlier versions': versions, clicks });
    const text = isDryRun
      ? `Would erase the user from ${from}; nothing was changed.`
      : `Erased the user from ${from}.`;
    await printResult(options, counts, text);
  });
}
