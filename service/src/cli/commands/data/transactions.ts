// offerbook transactions: shows a transaction and its history, and finds a user's transactions.

import { printJson } from '@offerbook/wire/decimal.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { Command } from 'commander';
import type { Stores } from '../../../domain/stores.ts';
import type { TransactionVersion } from '../../../domain/transaction.ts';
import { group, jsonCommand, openForReading, type StoreOptions } from '../../command.ts';
import { PASSBACK_UID_HELP, readPassbackUid } from '../../option-values.ts';
import { printable, printResult, printTime, table } from '../../output.ts';
import { withProgressBar } from '../../progress-bar.ts';
import { findOrgId } from '../access/organisations.ts';
import { transactionTotalsCommand } from './transaction-totals.ts';

export function transactionsCommand(): Command {
  const show = jsonCommand(
    'show',
    'show a transaction and its earlier versions, with the import of each',
    'offerbook transactions show 0192d1a0-0000-7000-8000-000000000101',
  )
    .argument('<id>', 'id of the transaction')
    .action(showTransaction);
  const find = jsonCommand(
    'find',
    "find a user's transactions, newest first",
    'offerbook transactions find --passback-uid user-8842 --org acme',
  )
    .requiredOption('--passback-uid <text>', PASSBACK_UID_HELP)
    .option('--org <name>', 'only transactions of this organisation')
    .action(findTransactions);
  const commands = [show, find, transactionTotalsCommand()];
  return group('transactions', 'look up and count transactions', commands);
}

async function showTransaction(idText: string, options: StoreOptions): Promise<void> {
  const id = parseUuid(idText);
  if (id === undefined) throw new BadInput(`<id> must be a UUID, not "${idText}"`);
  await using stores = await openForReading(options);
  const versions = await stores.history.versions(id);
  const [current] = versions;
  if (current === undefined) throw new BadInput(`there is no transaction ${id}`);
  const shown = await Array.fromAsync(versions, (version) => toJson(stores, version));
  const rows = shown.map(({ from, until, import: importId, file, by, transaction }) => {
    const { status, cashback, currencyCode } = transaction;
    return {
      ...{ FROM: from, UNTIL: until ?? 'now', STATUS: status },
      CASHBACK: `${printJson(cashback)} ${currencyCode}`,
      ...{ IMPORT: String(importId ?? ''), FILE: file ?? '', BY: by ?? '' },
    };
  });
  const lines = [
    `Transaction ${id} of "${current.orgName}", ${versions.length === 1 ? 'never changed' : `${versions.length} versions`}:`,
    table(rows),
    '',
    ...printJson(JSON.parse(current.document), 2).split('\n').map(printable),
  ];
  await printResult(options, { id, org: current.orgName, versions: shown }, lines.join('\n'));
}

async function findTransactions(
  options: StoreOptions & { passbackUid: string; org?: string },
): Promise<void> {
  const passbackUid = await readPassbackUid(options.passbackUid);
  await using stores = await openForReading(options);
  const orgId = await findOrgId(stores, options.org);
  const { newest: found } = await withProgressBar((show) =>
    stores.history.findByPassbackUid(passbackUid, { orgId, onRows: show }),
  );
  // There may be many transactions, so build only the requested output.
  if (options.json === true) {
    const json = found.map(({ orgName, document }) => ({ org: orgName, transaction: JSON.parse(document) }));
    return printResult(options, json, '');
  }
  const rows = found.map(({ id, orgName, status, fromMs, document }) => {
    const { orderValue, cashback, currencyCode, soldAt } = JSON.parse(document) as Transaction;
    return {
      ...{ ID: id, ORG: orgName, STATUS: status },
      ORDER: `${printJson(orderValue)} ${currencyCode}`,
      CASHBACK: `${printJson(cashback)} ${currencyCode}`,
      ...{ SOLD: soldAt, UPDATED: printTimestamp(fromMs) },
    };
  });
  await printResult(options, [], table(rows, 'No transactions.'));
}

async function toJson(stores: Stores, { fromMs, untilMs, importId, document }: TransactionVersion) {
  const entry = importId === null ? undefined : await stores.imports.find(importId);
  return {
    from: printTimestamp(fromMs),
    until: printTime(untilMs),
    import: importId,
    file: entry?.fileName ?? null,
    by: entry?.by ?? null,
    transaction: JSON.parse(document) as Transaction,
  };
}
