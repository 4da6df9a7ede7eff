import { describe, expect, test } from 'bun:test';
import { getCountry } from '@offerbook/sandbox/countries.ts';
import { arrivals, LivingSales, lively, SPARSE } from '@offerbook/sandbox/living-sales.ts';
import { Market } from '@offerbook/sandbox/market.ts';
import { type Change, courseOf, fasterSince, follow, REAL_PACE } from '@offerbook/sandbox/sale-course.ts';
import { isSaleId, reportedAtMs } from '@offerbook/sandbox/sale-id.ts';
import { makeCatalogue } from '@offerbook/sandbox/synthetic-catalogue.ts';
import type { Retailer, Sale } from '@offerbook/sandbox/wire.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { mayBecome, transactionRowSchema } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';

const NOW_MS = Date.parse('2026-11-14T12:00:00Z');

const retailers: readonly Retailer[] = makeCatalogue({
  seed: 1,
  nowMs: NOW_MS,
  logoUrl: (id) => `http://localhost:8080/logos/${id}.svg`,
});
const market = new Market(retailers);

function history(seed = 1): Change[] {
  return new LivingSales(seed, REAL_PACE, market).between(NOW_MS - 90 * DAY_MS, NOW_MS, SPARSE);
}

function stamped({ transaction, atMs }: Change) {
  return { ...transaction, updatedAt: printTimestamp(atMs) };
}

describe('90 days of history', () => {
  const changes = history();

  test('the history is the same for the same seed, and different for a different seed', () => {
    expect(history()).toEqual(changes);
    const ids = new Set(changes.map(({ transaction }) => transaction.id));
    expect(history(2).filter(({ transaction }) => ids.has(transaction.id))).toEqual([]);
  });

  test('an import accepts the history unchanged', () => {
    const rows = changes.map(stamped);
    const schema = transactionRowSchema('refuse', 'keep');
    expect<unknown>(rows.map((row) => schema.parse(row))).toEqual(rows);
  });

  test('the history has more than 10,000 sales, on every day and in every status, most of them settled', () => {
    expect(changes.length).toBeGreaterThan(10_000);
    expect(new Set(changes.map(({ transaction }) => transaction.soldAt.slice(0, 10))).size).toBeGreaterThan(
      89,
    );
    const share = (status: string) =>
      changes.filter(({ transaction }) => transaction.status === status).length / changes.length;
    expect(share('CONFIRMED')).toBeGreaterThan(0.7);
    expect(share('DECLINED')).toBeGreaterThan(0.08);
    expect(share('PENDING')).toBeGreaterThan(0.02);
  });

  test('the history has its events in order (activated, clicked, sold, changed) and within the 90 days', () => {
    for (const { updatedAt, soldAt, clickedAt, activatedAt } of changes.map(stamped)) {
      const times = [activatedAt, clickedAt, soldAt, updatedAt].flatMap((time) => time ?? []);
      expect(times).toEqual(times.toSorted());
      expect(updatedAt > printTimestamp(NOW_MS - 90 * DAY_MS) && updatedAt <= printTimestamp(NOW_MS)).toBe(
        true,
      );
    }
  });

  test('the history attributes each sale to exactly one catalogue deal that was active at the time', () => {
    const offers = new Map(retailers.flatMap((r) => r.cashbackOffers).map((offer) => [offer.id, offer]));
    const passing = new Map(retailers.flatMap((r) => [...r.coupons, ...r.promotions]).map((d) => [d.id, d]));
    for (const { transaction: t } of changes) {
      const deals = [t.cashbackOfferId, t.couponId, t.promotionId].flatMap((id) => id ?? []);
      expect(deals).toHaveLength(1);
      const deal = passing.get(deals[0] as string);
      expect(deal === undefined || (deal.startDate <= t.soldAt && t.soldAt < deal.endDate)).toBe(true);
      expect(deal !== undefined || offers.get(deals[0] as string)?.countries.includes(t.country)).toBe(true);
    }
    expect(changes.filter(({ transaction }) => transaction.couponId !== null).length).toBeGreaterThan(100);
    expect(changes.filter(({ transaction }) => transaction.promotionId !== null).length).toBeGreaterThan(50);
  });

  test("the history uses the country's currency, and cashback is less than the order value", () => {
    for (const { transaction } of changes) {
      expect(transaction.currencyCode).toBe(getCountry(transaction.country).currencyCode);
      expect(transaction.cashback).toBeLessThan(transaction.orderValue * 0.25);
    }
    expect(new Set(changes.map(({ transaction }) => transaction.currencyCode)).size).toBe(15);
  });
});

describe('a week in steps of five minutes', () => {
  const sales = new LivingSales(3, REAL_PACE, market);
  const states = new Map<string, Sale[]>();
  const start = sales.between(NOW_MS - 30 * DAY_MS, NOW_MS, SPARSE);
  sales.settle(start, NOW_MS);
  for (const { transaction } of start) states.set(transaction.id, [transaction]);
  const openAtStart = sales.openCount;
  for (let ms = NOW_MS; ms < NOW_MS + 7 * DAY_MS; ms += 5 * MINUTE_MS) {
    const changes = sales.between(ms, ms + 5 * MINUTE_MS, SPARSE);
    sales.settle(changes, ms + 5 * MINUTE_MS);
    for (const { transaction } of changes) {
      states.set(transaction.id, [...(states.get(transaction.id) ?? []), transaction]);
    }
  }
  const courses = [...states.values()];
  const steps = courses.flatMap((course) =>
    course.slice(1).map((after, i) => ({ before: course[i] as Sale, after })),
  );

  test('a simulated week has only allowed status changes, and each step changes something', () => {
    expect(steps.length).toBeGreaterThan(500);
    expect(steps.filter(({ before, after }) => !mayBecome(before.status, after.status))).toEqual([]);
    expect(steps.filter(({ before, after }) => Bun.deepEquals(before, after))).toEqual([]);
  });

  test('a simulated week confirms, declines and corrects sales, and occasionally reverses a decision', () => {
    const count = (matches: (step: (typeof steps)[number]) => boolean) => steps.filter(matches).length;
    expect(count((s) => s.before.status === 'PENDING' && s.after.status === 'CONFIRMED')).toBeGreaterThan(
      100,
    );
    expect(count((s) => s.before.status === 'PENDING' && s.after.status === 'DECLINED')).toBeGreaterThan(20);
    expect(count((s) => s.before.status === 'CONFIRMED' && s.after.status === 'DECLINED')).toBeGreaterThan(2);
    expect(count((s) => s.before.orderValue !== s.after.orderValue)).toBeGreaterThan(20);
  });

  test("a simulated week never changes a sale's deal, buyer or time", () => {
    const fixed = ({ status: _, orderValue: __, cashback: ___, ...rest }: Sale) => rest;
    for (const { before, after } of steps) expect(fixed(after)).toEqual(fixed(before));
  });

  test('settled sales are eventually dropped from memory, and open sales do not accumulate', () => {
    expect(sales.openCount).toBeLessThan(openAtStart * 2);
  });
});

describe('simulated time', () => {
  test('the simulation reports the same sales regardless of how time is split into steps, even at the exact time of a sale', () => {
    const endMs = NOW_MS + 120_000;
    const whole = [...arrivals(5, NOW_MS, endMs, lively(5))];
    const moments = fc.oneof(
      fc.integer({ min: NOW_MS, max: endMs }),
      fc.constantFrom(...whole.map(reportedAtMs)),
    );
    fc.assert(
      fc.property(fc.uniqueArray(moments, { maxLength: 20 }), (cutsMs) => {
        const ends = [...cutsMs.toSorted(), endMs];
        const parts = ends.flatMap((toMs, i) => [...arrivals(5, ends[i - 1] ?? NOW_MS, toMs, lively(5))]);
        expect(parts.toSorted()).toEqual(whole.toSorted());
      }),
      { numRuns: 50 },
    );
  });

  test('the simulation reports a sale every few seconds, and proportionally more sales at a higher speed', () => {
    const inAnHour = (speed: number) => [...arrivals(1, NOW_MS, NOW_MS + HOUR_MS, lively(speed))].length;
    expect(3600 / inAnHour(1)).toBeGreaterThan(2);
    expect(3600 / inAnHour(1)).toBeLessThan(8);
    expect(inAnHour(10) / inAnHour(1)).toBeCloseTo(10, -0.7);
  });

  test('the simulation brings future events forward at a higher speed without affecting current events', () => {
    const pace = fasterSince(NOW_MS, 10);
    expect(pace(NOW_MS - 100, 50)).toBe(NOW_MS - 50);
    expect(pace(NOW_MS - 100, 100)).toBe(NOW_MS);
    expect(pace(NOW_MS - 100, 1100)).toBe(NOW_MS + 100);
    expect(pace(NOW_MS + 500, 1000)).toBe(NOW_MS + 600);
  });
});

test('a missed settlement is applied later with a stamp that no poller has passed', () => {
  const [sale] = new LivingSales(1, REAL_PACE, market)
    .between(NOW_MS, NOW_MS + 10 * MINUTE_MS, lively(1))
    .filter(({ transaction }) => transaction.status === 'PENDING');
  const before = sale?.transaction as Sale;
  const course = courseOf(1, before.id, REAL_PACE);
  const [fromMs, toMs] = [course.settledAtMs + DAY_MS, course.settledAtMs + 2 * DAY_MS];
  expect(follow(before, { ...course, reversedAtMs: undefined }, fromMs, toMs)).toEqual({
    transaction: { ...before, status: course.outcome },
    atMs: toMs,
  });
});

test('a sale id contains the time of its report and is recognised only with its own seed', () => {
  const ids = [...arrivals(9, NOW_MS, NOW_MS + HOUR_MS, lively(5))];
  expect(
    ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !isSaleId(9, id) || isSaleId(8, id))).toEqual([]);
  expect(ids.filter((id) => reportedAtMs(id) <= NOW_MS || reportedAtMs(id) > NOW_MS + HOUR_MS)).toEqual([]);
  expect(isSaleId(9, Bun.randomUUIDv7() as string)).toBe(false);
});
