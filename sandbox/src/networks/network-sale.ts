// A sale at a network, with all its versions over time. Unlike the sandbox's own sales, some of these sales are reported months
// after they were made, and some change months after they were settled.

import { DAY_MS, wholeSecond } from '@offerbook/wire/time.ts';
import { getCountry, roundMoney } from '../countries.ts';
import type { Market } from '../market.ts';
import { Random } from '../random.ts';
import { makeSale } from '../sale.ts';
import { courseOf, REAL_PACE } from '../sale-course.ts';
import { reportedAtMs } from '../sale-id.ts';
import type { Sale } from '../wire.ts';

/** The publisher's commission is greater than the user's cashback. */
const CASHBACK_SHARE = 0.7;
const LATE_ROW_SHARE = 0.02;
const LATE_ROW_DAYS = [20, 300] as const;
const LATE_REVERSAL_SHARE = 0.02;
const LATE_REVERSAL_DAYS = [60, 270] as const;
const LATE_AMENDMENT_SHARE = 0.02;
const LATE_AMENDMENT_DAYS = [10, 200] as const;

export interface Amounts {
  readonly orderValue: number;
  readonly commission: number;
}

export interface Version extends Amounts {
  /** Whole seconds. */
  readonly atMs: number;
  readonly status: Sale['status'];
}

export type NetworkSale = Readonly<ReturnType<typeof makeNetworkSale>>;

/** Oldest first. The first version is the sale as it was reported. */
type Versions = readonly [Version, ...Version[]];

/** Where the sales of all networks come from. */
export interface SaleOrigin {
  readonly seed: number;
  readonly market: Market;
  /** By our retailer id. */
  readonly advertiserIds: ReadonlyMap<string, number>;
  readonly leakShare: number;
}

/** `key` is unique among the sales of all networks. */
export function makeNetworkSale(origin: SaleOrigin, id: string, key: number) {
  const { seed, market, advertiserIds, leakShare } = origin;
  const sale = makeSale(seed, id, market);
  const random = new Random(seed, 'network sale', id);
  const lateMs = random.chance(LATE_ROW_SHARE) ? Math.round(random.between(...LATE_ROW_DAYS)) * DAY_MS : 0;
  const { decimals } = getCountry(sale.country);
  const isClicked = sale.clickedAt !== null;
  return {
    id,
    key,
    advertiserId: advertiserIds.get(sale.retailerId ?? '') ?? 0,
    offerNumber: numberOf(sale.cashbackOfferId ?? ''),
    country: sale.country,
    currency: sale.currencyCode,
    decimals,
    clickedMs: sale.clickedAt === null ? undefined : parseMs(sale.clickedAt) - lateMs,
    soldMs: parseMs(sale.soldAt) - lateMs,
    subId: isClicked ? (sale.passbackUid ?? undefined) : undefined,
    subData: isClicked ? (sale.passbackData ?? undefined) : undefined,
    // True if the change filters never list the changes to this sale.
    isLeaky: new Random(seed, 'leak', id).chance(leakShare),
    versions: makeVersions(seed, sale, decimals, random),
  };
}

function makeVersions(seed: number, sale: Sale, decimals: 0 | 2, random: Random): Versions {
  const course = courseOf(seed, sale.id, REAL_PACE);
  const commission = sale.cashback / CASHBACK_SHARE;
  const first: Version = {
    atMs: wholeSecond(reportedAtMs(sale.id)),
    status: 'PENDING',
    ...scaled({ orderValue: sale.orderValue, commission }, 1, decimals),
  };
  const versions: [Version, ...Version[]] = [first];
  const add = (atMs: number, change: Partial<Version>) => {
    versions.push({ ...(versions.at(-1) ?? first), ...change, atMs: wholeSecond(atMs) });
  };
  if (course.correctedAtMs !== undefined)
    add(course.correctedAtMs, scaled(first, course.correction, decimals));
  add(course.settledAtMs, { status: course.outcome });
  const reversed = course.outcome === 'CONFIRMED' ? 'DECLINED' : 'CONFIRMED';
  if (course.reversedAtMs !== undefined) add(course.reversedAtMs, { status: reversed });
  const last = versions.at(-1) ?? first;
  if (last.status !== 'CONFIRMED') return versions;
  if (random.chance(LATE_AMENDMENT_SHARE)) {
    const amounts = scaled(last, random.between(0.3, 0.9), decimals);
    add(last.atMs + random.between(...LATE_AMENDMENT_DAYS) * DAY_MS, amounts);
  } else if (random.chance(LATE_REVERSAL_SHARE)) {
    add(last.atMs + random.between(...LATE_REVERSAL_DAYS) * DAY_MS, { status: 'DECLINED' });
  }
  return versions;
}

/** Never rounds to 0, because some networks decline a sale by setting its amounts to 0. */
function scaled({ orderValue, commission }: Amounts, factor: number, decimals: 0 | 2): Amounts {
  const least = 10 ** -decimals;
  const scale = (amount: number) => Math.max(least, roundMoney(amount * factor, decimals));
  return { orderValue: scale(orderValue), commission: scale(commission) };
}

/** Returns the version of the sale that is current at `nowMs`. The sale must have been reported by then. */
export function versionAt({ versions }: NetworkSale, nowMs: number): Version {
  return versions.findLast(({ atMs }) => atMs <= nowMs) ?? versions[0];
}

/** When the network last changed the sale, as far as its change filter shows. */
export function changedMs(sale: NetworkSale, nowMs: number): number {
  return sale.isLeaky ? sale.versions[0].atMs : versionAt(sale, nowMs).atMs;
}

/** The versions up to this time. */
export function versionsAt({ versions }: NetworkSale, nowMs: number): readonly Version[] {
  return versions.filter(({ atMs }) => atMs <= nowMs);
}

/** The amounts of a declined sale, and of every sale before it was reported. */
export const NOTHING: Amounts = { orderValue: 0, commission: 0 };

/** The changes of the amounts up to this time, for networks that list each of them. `index` is that of the version. */
export function changesOf(
  sale: NetworkSale,
  nowMs: number,
  amountsOf: (version: Version) => Amounts = (version) => version,
) {
  let after = NOTHING;
  return versionsAt(sale, nowMs).flatMap((version, index) => {
    const before = after;
    after = version.status === 'DECLINED' ? NOTHING : amountsOf(version);
    const isSame = before.orderValue === after.orderValue && before.commission === after.commission;
    return isSame ? [] : [{ atMs: version.atMs, index, before, after }];
  });
}

/** A number for a UUID, since most networks number their offers and deals. */
export function numberOf(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 12), 16);
}

function parseMs(time: string): number {
  return Date.parse(`${time}Z`);
}
