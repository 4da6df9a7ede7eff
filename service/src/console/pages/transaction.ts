// One sale: as it is, and every earlier version with the import that made it. The only page that shows a passbackUid.

import { type Html, html } from '@offerbook/site/html.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { Status, Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { ImportEntry, TransactionVersion } from '../../domain/books.ts';
import type { ConsolePage, ConsoleStores, MakePage } from '../console-page.ts';
import { amount, facts, moment, section, source, table, tag } from '../elements.ts';

export const transactionPage: MakePage = async ({ stores: openStores, parameters, counts }) => {
  const id = parseUuid(parameters.id ?? '');
  const stores = await openStores();
  const versions = id === undefined ? [] : await stores.history.versions(id);
  const [current] = versions;
  if (current === undefined) return noSuchTransaction();
  const sale = JSON.parse(current.document) as Transaction;
  const imports = await importsOf(stores, versions);
  const { retailers, retailerOfDeal } = await counts.catalogue.read(stores);
  const dealId = sale.cashbackOfferId ?? sale.couponId ?? sale.promotionId;
  const retailerId = dealId === null ? undefined : retailerOfDeal.get(dealId);
  return {
    title: 'Transaction',
    main: html`<nav aria-label="Way back"><a class="back" href="/transactions">All searches</a></nav>
${section(
  'As it is',
  facts([
    ['Status', statusTag(current.status)],
    ['Organisation', html`<bdi>${current.orgName}</bdi>`],
    [
      'Retailer',
      retailerId === undefined ? 'not known' : html`<bdi>${retailers.get(retailerId) ?? retailerId}</bdi>`,
    ],
    ...Object.entries(sale)
      .filter(([name]) => name !== 'status')
      .map(
        ([name, value]) =>
          [
            name,
            html`<bdi>${value === null ? '–' : typeof value === 'number' ? printJson(value) : value}</bdi>`,
          ] as const,
      ),
  ]),
)}
${section(
  'History',
  table(
    'Versions, the newest first',
    ['From (UTC)', 'Until (UTC)', 'Status', 'Order', 'Cashback', 'Currency', 'Import'],
    versions.map((version) => versionRow(version, imports)),
  ),
  source(`offerbook transactions show ${current.id}`),
)}`,
  };
};

export function statusTag(status: Status): Html {
  return tag(status, status === 'CONFIRMED' ? 'good' : status === 'DECLINED' ? 'bad' : 'plain');
}

function versionRow(
  { fromMs, untilMs, status, importId, document }: TransactionVersion,
  imports: ReadonlyMap<number, ImportEntry>,
) {
  const { orderValue, cashback, currencyCode } = JSON.parse(document) as Transaction;
  const entry = importId === null ? undefined : imports.get(importId);
  return [
    moment(fromMs),
    untilMs === null ? 'now' : moment(untilMs),
    statusTag(status),
    amount(orderValue),
    amount(cashback),
    currencyCode,
    entry === undefined
      ? 'not in the book'
      : html`<a href="/imports/${entry.id}">${entry.id}</a>: <bdi>${entry.fileName}</bdi>, by <bdi>${entry.by}</bdi>`,
  ];
}

async function importsOf(
  stores: ConsoleStores,
  versions: readonly TransactionVersion[],
): Promise<ReadonlyMap<number, ImportEntry>> {
  const found = new Map<number, ImportEntry>();
  for (const importId of new Set(versions.map((version) => version.importId))) {
    const entry = importId === null ? undefined : await stores.imports.find(importId);
    if (entry !== undefined) found.set(entry.id, entry);
  }
  return found;
}

function noSuchTransaction(): ConsolePage {
  return {
    status: 404,
    title: 'No such transaction',
    main: html`<p class="lead">There is none with this id. <a href="/transactions">Search</a></p>`,
  };
}
