// Compares transactions with the truth of a fake network.

import { deriveId, parseSource, type Source } from '@offerbook/feeds/source/source-file.ts';
import { exampleSource, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { TrueSale } from '@offerbook/sandbox/networks/true-sales.ts';
import { NAMESPACE, type Row } from '../../../feeds/test/fixture.ts';

/** A source whose users get the whole commission, so that the cashback of a row is the commission. */
export function wholeShareSource(network: NetworkName, changes: Row = {}): Source {
  const rules = { namespace: NAMESPACE, share: { default: 1 }, confirmAfterDays: undefined };
  const source = { ...exampleSource(network, 'http://127.0.0.1'), ...rules, ...changes };
  return parseSource(JSON.stringify(source), 'source.json');
}

/** The truth as rows of the import, sorted by id. */
export function expectedRows(source: Source, sales: readonly TrueSale[]) {
  return sales
    .map((sale) => ({
      id: deriveId(source, 'transaction', sale.id) as string,
      status: sale.status,
      orderValue: sale.orderValue,
      cashback: sale.commission,
      currencyCode: sale.currency,
      country: sale.country ?? 'US',
      soldAt: new Date(sale.soldMs).toISOString().slice(0, 19),
      passbackUid: sale.subId ?? null,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The same fields of other rows. */
export function comparable(rows: Iterable<Row>): Row[] {
  return [...rows]
    .map(({ id, status, orderValue, cashback, currencyCode, country, soldAt, passbackUid }) => ({
      ...{ id, status, orderValue, cashback, currencyCode, country, soldAt, passbackUid },
    }))
    .sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1));
}
