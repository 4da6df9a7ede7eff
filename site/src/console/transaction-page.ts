// One transaction and its history. This is the only page that shows a passbackUid.

import { printJson } from '@offerbook/wire/decimal.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import { type Html, html } from '../html.ts';
import type { ConsolePage } from './console-page.ts';
import { amount, facts, moment, organisationLink, section, source, table, tag } from './elements.ts';

interface TransactionView {
  readonly transaction: Transaction;
  readonly orgName: string;
  /** Retailer name; undefined if the catalogue no longer contains the deal. */
  readonly retailer: string | undefined;
  /** Newest first. */
  readonly versions: readonly ShownVersion[];
}

export interface ShownVersion {
  readonly transaction: Transaction;
  readonly fromMs: number;
  /** Null for the current version. */
  readonly untilMs: number | null;
  /** Undefined if the import log no longer contains the import. */
  readonly import: { readonly id: number; readonly fileName: string; readonly by: string } | undefined;
}

export function transactionPage({ transaction, orgName, retailer, versions }: TransactionView): ConsolePage {
  const { id: _, status, orderValue, cashback, currencyCode, ...fields } = transaction;
  return {
    title: `Transaction ${transaction.id}`,
    heading: html`Transaction <code>${transaction.id}</code>`,
    main: html`<nav aria-label="Back"><a class="back" href="/transactions">Transactions</a></nav>
${section(
  'Current version',
  facts(
    [
      ['Status', statusTag(status)],
      ['Organisation', organisationLink(orgName)],
      ['Retailer', retailer === undefined ? 'unknown' : html`<bdi>${retailer}</bdi>`],
      ['orderValue', amount(orderValue, currencyCode)],
      ['cashback', amount(cashback, currencyCode)],
      ...Object.entries(fields).map(([name, value]) => [name, printValue(name, value)] as const),
    ],
    'wide panel',
  ),
)}
${section(
  'History',
  table('Versions, newest first', versions, {
    'From (UTC)': ({ fromMs }) => moment(fromMs),
    'Until (UTC)': ({ untilMs }) => (untilMs === null ? 'now' : moment(untilMs)),
    Status: (version) => statusTag(version.transaction.status),
    Order: (version) => amount(version.transaction.orderValue, version.transaction.currencyCode),
    Cashback: (version) => amount(version.transaction.cashback, version.transaction.currencyCode),
    Import: ({ import: entry }) =>
      entry === undefined
        ? 'not in the import log'
        : html`<a href="/imports/${entry.id}">${entry.id}</a>: <bdi>${entry.fileName}</bdi>`,
    'Run by': ({ import: entry }) => (entry === undefined ? '' : html`<bdi>${entry.by}</bdi>`),
  }),
  source(`offerbook transactions show ${transaction.id}`),
)}`,
  };
}

function printValue(name: string, value: string | number | null): Html {
  if (value === null) return html`–`;
  if (name === 'id' || name.endsWith('Id')) return html`<code>${value}</code>`;
  return html`<bdi>${typeof value === 'number' ? printJson(value) : value}</bdi>`;
}

export function statusTag(status: Status): Html {
  return tag(status, status === 'CONFIRMED' ? 'good' : status === 'DECLINED' ? 'bad' : 'pending');
}

export const NO_SUCH_TRANSACTION: ConsolePage = {
  status: 404,
  title: 'No such transaction',
  main: html`<p class="lead">There is no transaction with this id. <a href="/transactions">Search</a></p>`,
};
