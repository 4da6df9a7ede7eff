// offerbook erase: removes a user from transactions, their history and clicks. Amounts stay; clients see an update.

import { printCountsOf } from '@offerbook/wire/count.ts';
import type { Command } from 'commander';
import type { ErasureCounts } from '../../domain/erasure.ts';
import { jsonCommand, readStores, type StoreOptions, withStores } from '../command.ts';
import { printResult } from '../output.ts';
import { getOrganisation } from './organisations.ts';
import { PASSBACK_UID_HELP, readPassbackUid } from './passback-uid.ts';
import { withProgressBar } from './progress-bar.ts';

export function eraseCommand(): Command {
  return jsonCommand(
    'erase',
    "erase a user's passbackUid and passbackData from transactions, history and clicks; amounts stay",
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
  if (options.dryRun === true) return countUser(options, passbackUid);
  await withStores(options, async (stores) => {
    const org = await getOrganisation(stores, options.org, 'to read');
    const counts = await withProgressBar((show) => stores.erasures.erase(org, passbackUid, show));
    await printResult(options, counts, `Erased the user from ${inWords(counts)}.`);
  });
}

function countUser(options: EraseOptions, passbackUid: string): Promise<void> {
  return readStores(options, async (stores) => {
    const org = await getOrganisation(stores, options.org, 'to read');
    const counts = await stores.erasures.count(org.id, passbackUid);
    const words = `Would erase the user from ${inWords(counts)}; nothing was changed.`;
    await printResult(options, counts, words);
  });
}

function inWords({ transactions, versions, clicks }: ErasureCounts): string {
  return printCountsOf({ transactions, 'earlier versions': versions, clicks });
}
