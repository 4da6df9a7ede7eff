// Data for the totals page.

import {
  type AgeGroup,
  type RetailerDecisions,
  totalsPage as render,
  type Totals,
} from '@offerbook/site/console/totals-page.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import {
  AGE_BOUNDS_DAYS,
  type AgeTotal,
  type MonthTotal,
  type RetailerTotal,
  sumOf,
  type TransactionTotals,
} from '../counts/transaction-totals.ts';
import type { MakePage } from '../page-context.ts';

const RETAILERS_MAX = 50;

export const totalsPage: MakePage = async ({ node, stores: openStores, counts, query }) => {
  const stores = await openStores();
  const organisations = await stores.organisations.list();
  const { last, counted } = await counts.transactions.read();
  const org = organisations.find(({ publicId }) => publicId === query.get('org'));
  const { retailers } = await counts.catalogue.read(stores);
  return render({
    nowMs: node.nowMs,
    organisations,
    org,
    last: last && { countedAtMs: last.countedAtMs, tookMs: last.tookMs, count: last.value.count },
    counted,
    totals: last && group(last.value, org?.name, retailers),
  });
};

/** Groups the totals of one organisation, or of all. */
function group(
  totals: TransactionTotals,
  orgName: string | undefined,
  names: ReadonlyMap<Uuid, string>,
): Totals {
  const isShown = ({ org }: { readonly org: string }) => orgName === undefined || org === orgName;
  const months = totals.months.filter(isShown);
  const retailers = decisionsBy(totals.retailers.filter(isShown), names);
  return {
    currencies: [...Map.groupBy(months, ({ currency }) => currency)]
      .toSorted()
      .map(([currency, ofCurrency]) => ({ currency, months: cashbackByMonth(ofCurrency) })),
    ages: [...Map.groupBy(totals.ages.filter(isShown), ({ currency }) => currency)]
      .toSorted()
      .flatMap(([currency, ofCurrency]) => ageGroups(currency, ofCurrency)),
    retailers: retailers.slice(0, RETAILERS_MAX),
    retailerCount: retailers.length,
    months,
  };
}

function cashbackByMonth(totals: readonly MonthTotal[]) {
  return [...Map.groupBy(totals, ({ month }) => month)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([month, ofMonth]) => {
      const cashback = (status: Status) => sumOf(ofMonth.filter((one) => one.status === status)).cashback;
      return {
        month,
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

/** Sorts retailers by declined transactions, most first. */
function decisionsBy(
  totals: readonly RetailerTotal[],
  names: ReadonlyMap<string, string>,
): RetailerDecisions[] {
  const groups = [...Map.groupBy(totals, ({ retailer }) => names.get(retailer) ?? retailer)];
  return groups
    .map(([name, ofRetailer]) => {
      const count = (status: Status) => ofRetailer.reduce((sum, { counts }) => sum + counts[status], 0);
      return {
        name,
        pending: count('PENDING'),
        confirmed: count('CONFIRMED'),
        declined: count('DECLINED'),
      };
    })
    .toSorted((a, b) => b.declined - a.declined || b.confirmed - a.confirmed || (a.name < b.name ? -1 : 1));
}
