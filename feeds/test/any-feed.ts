// Generates rows of each network for fast-check: a few sales in versions that are equal, newer or contradictory. Also generates
// files with these rows in any order and in every form that networks and shells produce.

import fc from 'fast-check';
import type { NetworkName } from '../src/source/source-file.ts';
import {
  awinSale,
  cjAnswer,
  cjRecord,
  impactAction,
  impactPage,
  partnerizeConversion,
  partnerizeItem,
  partnerizePage,
  type Row,
  rakutenSku,
} from './fixture.ts';

const few = fc.nat(3);
const anyCents = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: -300, max: 9_999 }) },
);
const anySubId = fc.constantFrom('user-1', 'user-2', '007', '', null);
const anyDay = fc.integer({ min: 10, max: 28 });

const anyPrice = anyCents.map((cents) => (cents / 100).toFixed(2));
const anyMoney = anyCents.map((cents) => ({ amount: cents / 100, currency: 'EUR' }));

const anyAwin = fc
  .record({
    id: few.map((n) => 900 + n),
    commissionStatus: fc.constantFrom('pending', 'approved', 'declined', 'deleted', 'odd'),
    saleAmount: anyMoney,
    commissionAmount: anyMoney,
    validationDate: fc.option(anyDay.map((day) => `2026-11-${day}T00:00:00`)),
    amended: fc.boolean(),
    clickRefs: fc.record({ clickRef: anySubId }),
    transactionParts: fc.constant([]),
  })
  .map(awinSale);

const anyImpact = fc
  .record({
    Id: few.map((n) => `1.2.${n}`),
    State: fc.constantFrom('PENDING', 'APPROVED', 'REVERSED', 'LOCKED'),
    Amount: anyPrice,
    Payout: anyPrice,
    SubId1: anySubId,
  })
  .map(impactAction);

const anyPartnerize = fc
  .tuple(
    fc.record({
      conversion_id: few.map((n) => `111l${n}`),
      last_modified: anyDay.map((day) => `2026-11-${day} 12:00:00`),
      conversion_items: fc.array(
        fc
          .constantFrom('pending', 'approved', 'rejected')
          .map((item_status) => partnerizeItem({ item_status })),
        { maxLength: 3 },
      ),
    }),
    fc.record({
      conversion_status: fc.constantFrom('pending', 'approved', 'rejected', 'mixed', 'odd'),
      value: anyCents.map((cents) => cents / 100),
    }),
  )
  .map(([changes, value]) => partnerizeConversion(changes, value));

const anyCj = fc
  .record({
    n: few,
    record: few,
    actionStatus: fc.constantFrom('new', 'extended', 'locked', 'closed', 'odd'),
    validationStatus: fc.constantFrom('PENDING', 'AUTOMATED', 'ACCEPTED', 'DECLINED'),
    saleAmountPubCurrency: anyPrice,
    pubCommissionAmountPubCurrency: anyPrice,
  })
  .map(({ n, record, ...others }) =>
    cjRecord({
      originalActionId: `170${n}`,
      commissionId: `290${n}${record}`,
      original: record === 0,
      ...others,
    }),
  );

const anyRakuten = fc
  .record({
    n: few,
    sku: few,
    sale_amount: anyCents.map((cents) => cents / 100),
    commissions: anyCents.map((cents) => cents / 100),
    process_date: anyDay.map((day) => `Sat Nov ${day} 2026 12:05:00 GMT+0000 (UTC)`),
    currency: fc.constantFrom('EUR', 'EUR', 'EUR', ''),
  })
  .map(({ n, sku, ...others }) =>
    rakutenSku({ order_id: `A-${n}`, etransaction_id: `${n}-${sku}`, ...others }),
  );

interface FeedKind {
  readonly row: fc.Arbitrary<Row>;
  /** Print a response with some rows, in each form that the network uses. */
  readonly shapes: readonly ((rows: readonly Row[]) => string)[];
}

const list = (rows: readonly Row[]) => JSON.stringify(rows);
const prettyList = (rows: readonly Row[]) => JSON.stringify(rows, null, 2);
const lines = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('') || '[]';

export const FEEDS: Readonly<Record<Exclude<NetworkName, 'table'>, FeedKind>> = {
  awin: { row: anyAwin, shapes: [list, prettyList, lines] },
  impact: {
    row: anyImpact,
    shapes: [
      (rows) => impactPage('Actions', rows),
      (rows) => `[${impactPage('Actions', rows)}]`,
      list,
      lines,
    ],
  },
  partnerize: { row: anyPartnerize, shapes: [partnerizePage, list, lines] },
  cj: {
    row: anyCj,
    shapes: [cjAnswer, (rows) => JSON.stringify(JSON.parse(cjAnswer(rows)), null, 1), list, lines],
  },
  rakuten: { row: anyRakuten, shapes: [list, prettyList, lines] },
};

export type FeedName = keyof typeof FEEDS;
export const FEED_NAMES = Object.keys(FEEDS) as FeedName[];

/** Generates rows, and files that contain each of them at least once. */
export function anyFiles(name: FeedName): fc.Arbitrary<{ rows: Row[]; files: Record<string, string> }> {
  const { row, shapes } = FEEDS[name];
  return fc
    .array(row, { maxLength: 10 })
    .chain((rows) =>
      fc.record({
        rows: fc.constant(rows),
        order: fc.shuffledSubarray([...rows, ...rows], { minLength: rows.length * 2 }),
        repeats: fc.nat(rows.length),
        cuts: fc.array(fc.nat(20), { maxLength: 4 }),
        shape: fc.array(fc.nat(shapes.length - 1), { minLength: 5, maxLength: 5 }),
        /** True to put all responses in one file, as `curl >> file` does. */
        isOneFile: fc.boolean(),
      }),
    )
    .map(({ rows, order, repeats, cuts, shape, isOneFile }) => {
      const given = keepOnce(order, rows, repeats);
      const parts = split(given, cuts).map((part, index) => shapes[shape[index] ?? 0]?.(part) ?? '[]');
      if (isOneFile) return { rows, files: { 'all.json': parts.join('') } };
      return { rows, files: Object.fromEntries(parts.map((part, index) => [`${index}.json`, part])) };
    });
}

/** Keeps every row once, and some of them twice. */
function keepOnce(order: readonly Row[], rows: readonly Row[], repeats: number): Row[] {
  const extra = new Map(rows.map((row, index) => [row, index < repeats ? 2 : 1]));
  return order.filter((row) => {
    const left = extra.get(row) ?? 0;
    extra.set(row, left - 1);
    return left > 0;
  });
}

function split(rows: readonly Row[], cuts: readonly number[]): Row[][] {
  const places = [...new Set(cuts.map((cut) => cut % (rows.length + 1)))].sort((a, b) => a - b);
  return [...places, rows.length].map((end, index) => rows.slice(places[index - 1] ?? 0, end));
}
