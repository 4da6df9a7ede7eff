// Reads the data for the console's totals page.

import { type AgeGroup, totalsPage as render } from '@offerbook/site/console/totals-page.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import {
  AGE_BOUNDS_DAYS,
  type AgeTotal,
  type PeriodTotal,
  readTransactionTotals,
  sumOf,
} from '../counts/transaction-totals.ts';
import type { MakePage } from '../page-context.ts';

export const totalsPage: MakePage = async ({ node, stores: openStores, query }) => {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const org = organisations.find(({ publicId }) => publicId === query.get('org'));
  const by = query.get('by') === 'day' ? 'day' : 'month';
  const totals = await readTransactionTotals(stores, node.nowMs);
  const isShown = (total: { readonly org: string }) => org === undefined || total.org === org.name;
  const months = totals.months.filter(isShown);
  return render({
    organisations,
    org,
    by,
    count: sumOf(months).count,
    currencies: groupByCurrency(by === 'day' ? totals.days.filter(isShown) : months).map(
      ([currency, periods]) => ({ currency, periods: cashbackByPeriod(periods) }),
    ),
    ages: groupByCurrency(totals.ages.filter(isShown)).flatMap(([currency, ages]) =>
      ageGroups(currency, ages),
    ),
    months,
  });
};

function groupByCurrency<Total extends { readonly currency: string }>(totals: readonly Total[]) {
  return [...Map.groupBy(totals, ({ currency }) => currency)].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function cashbackByPeriod(totals: readonly PeriodTotal[]) {
  return [...Map.groupBy(totals, ({ period }) => period)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([period, ofPeriod]) => {
      const cashback = (status: Status) => sumOf(ofPeriod.filter((one) => one.status === status)).cashback;
      return {
        period,
        pending: cashback('PENDING'),
        confirmed: cashback('CONFIRMED'),
        declined: cashback('DECLINED'),
      };
    });
}

function ageGroups(currency: string, totals: readonly AgeTotal[]): AgeGroup[] {
  const allCount = sumOf(totals).count;
  return [...AGE_BOUNDS_DAYS, undefined].map((untilDays, age) => {
    const { count, cashback } = sumOf(totals.filter((one) => one.age === age));
    return { currency, fromDays: AGE_BOUNDS_DAYS[age - 1], untilDays, count, allCount, cashback };
  });
}
