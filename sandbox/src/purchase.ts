// What a visitor buys in the toy shop of the sandbox: a sale like the others, but for its course. Somebody is watching, so
// it is confirmed soon, and stays so.

import { roundMoney } from './countries.ts';
import { Random } from './random.ts';
import { courseOf, REAL_PACE } from './sale-course.ts';
import { SALES_PER_CELL_MAX, saleId } from './sale-id.ts';
import { printSecond, type Retailer, type Sale } from './wire.ts';

const CONFIRMED_WITHIN_MS = 60_000;

/** What a network tells of it: the click stands for everything that the click knows. */
export type Purchase = Pick<
  Sale,
  'id' | 'country' | 'soldAt' | 'currencyCode' | 'orderValue' | 'cashback' | 'status'
> & { readonly clickId: string };

export function makePurchase(seed: number, nowMs: number, retailer: Retailer, clickId: string): Purchase {
  const random = new Random(seed, 'purchase', clickId, nowMs);
  const orderValue = random.whole(15, 120) + 0.9;
  const [offer] = retailer.cashbackOffers;
  const cashback =
    offer?.maximumFixedCommissionFee ?? roundMoney(orderValue * (offer?.cashbackPercentage ?? 0), 2);
  return {
    id: findId(seed, nowMs),
    clickId,
    country: 'DE',
    soldAt: printSecond(nowMs),
    currencyCode: 'EUR',
    orderValue,
    cashback,
    status: 'PENDING',
  };
}

/** The id decides what becomes of a sale, so one is looked for that fits. Sales of chance have the first numbers. */
function findId(seed: number, nowMs: number): string {
  for (let number = SALES_PER_CELL_MAX - 1; number > 0; number--) {
    const id = saleId(seed, nowMs, number);
    const { outcome, settledAtMs, correctedAtMs, reversedAtMs } = courseOf(seed, id, REAL_PACE);
    const isLasting = correctedAtMs === undefined && reversedAtMs === undefined && outcome === 'CONFIRMED';
    if (isLasting && settledAtMs <= nowMs + CONFIRMED_WITHIN_MS) return id;
  }
  throw new Error('no sale of this moment is confirmed soon');
}
