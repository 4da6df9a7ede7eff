// offerbook erase: removes a user from transactions (including their history) and from clicks. Amounts are kept. Clients
// receive the changed transactions as updates.

import { printCountsOf } from '@offerbook/wire/count.ts';
import type { Command } from 'commander';
import { jsonCommand, openForReading, openForWriting, type StoreOptions } from '../../command.ts';
import { PASSBACK_UID_HELP, readPassbackUid } from '../../option-values.ts';
import { printResult } from '../../output.ts';
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

async function erase(
  options: StoreOptions & { org: string; passbackUid: string; dryRun?: boolean },
): Promise<void> {
  const passbackUid = await readPassbackUid(options.passbackUid);
  const isDryRun = options.dryRun === true;
  await using stores = await (isDryRun ? openForReading : openForWriting)(options);
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
}
