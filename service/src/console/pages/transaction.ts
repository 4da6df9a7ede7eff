// One transaction with its history. Only this page shows its passbackUid, which may identify a person.

import * as ui from '@offerbook/site/console/elements.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import type { ImportEntry } from '../../domain/import-log.ts';
import type { MakePage } from '../page-context.ts';
import { statusTag } from './transactions.ts';

export const transactionPage: MakePage = async ({ stores: openStores, parameters, catalogue }) => {
  const id = parseUuid(parameters.id ?? '');
  const stores = await openStores();
  const versions = id === undefined ? [] : await stores.history.versions(id);
  const [current] = versions;
  if (current === undefined)
    return {
      status: 404,
      title: 'No such transaction',
      main: html`<p class="lead">There is no transaction with this id. <a href="/transactions">Search</a></p>`,
    };
  const imports = new Map<number | null, ImportEntry | undefined>();
  for (const importId of new Set(versions.map((version) => version.importId)))
    if (importId !== null) imports.set(importId, await stores.imports.find(importId));
  const transaction = JSON.parse(current.document) as Transaction;
  const { id: _, status, orderValue, cashback, currencyCode, ...fields } = transaction;
  const dealId = fields.cashbackOfferId ?? fields.couponId ?? fields.promotionId;
  const { retailers, retailerOfDeal } = await catalogue.read(stores);
  const stored = await stores.transactions.findRetailers([transaction.id]);
  // Undefined if the catalogue no longer contains the deal.
  const retailerId = stored.get(transaction.id) ?? (dealId ? retailerOfDeal.get(dealId) : undefined);
  return {
    title: `Transaction ${transaction.id}`,
    heading: html`Transaction <code>${transaction.id}</code>`,
    main: html`<nav aria-label="Back"><a class="back" href="/transactions">Transactions</a></nav>
${ui.section(
  'Current version',
  ui.facts(
    {
      Status: statusTag(status),
      Organisation: ui.organisationLink(current.orgName),
      Retailer:
        retailerId === undefined ? 'unknown' : html`<bdi>${retailers.get(retailerId) ?? retailerId}</bdi>`,
      orderValue: ui.amount(orderValue, currencyCode),
      cashback: ui.amount(cashback, currencyCode),
      ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, printValue(name, value)])),
    },
    'wide panel',
  ),
)}
${ui.section(
  'History',
  ui.table(
    'Versions, newest first',
    versions.map(({ document, importId, ...times }) => {
      return { ...times, transaction: JSON.parse(document) as Transaction, entry: imports.get(importId) };
    }),
    {
      'From (UTC)': ({ fromMs }) => ui.moment(fromMs),
      'Until (UTC)': ({ untilMs }) => (untilMs === null ? 'now' : ui.moment(untilMs)),
      Status: (version) => statusTag(version.transaction.status),
      Order: (version) => ui.amount(version.transaction.orderValue, version.transaction.currencyCode),
      Cashback: (version) => ui.amount(version.transaction.cashback, version.transaction.currencyCode),
      Import: ({ entry }) =>
        entry === undefined
          ? 'not in the import log'
          : html`<a href="/imports/${entry.id}">${entry.id}</a>: <bdi>${entry.fileName}</bdi>`,
      'Run by': ({ entry }) => (entry === undefined ? '' : html`<bdi>${entry.by}</bdi>`),
    },
  ),
  ui.source(`offerbook transactions show ${transaction.id}`),
)}`,
  };
};

function printValue(name: string, value: string | number | null): Html {
  if (value === null) return html`–`;
  if (name === 'id' || name.endsWith('Id')) return html`<code>${value}</code>`;
  return html`<bdi>${typeof value === 'number' ? printJson(value) : value}</bdi>`;
}
