// What a visitor buys in the toy shop of the sandbox: a sale like the others, but for its course. Somebody is watching, so
// it is confirmed soon, and stays so.

import { getCountry } from './countries.ts';
import { makeOrder, type Order } from './order.ts';
import { Random } from './random.ts';
import { courseOf, REAL_PACE } from './sale-course.ts';
import { SALES_PER_CELL_MAX, saleId } from './sale-id.ts';
import { printSecond, type Retailer, type Sale } from './wire.ts';

const CONFIRMED_WITHIN_MS = 60_000;

/** What a network tells of it: the click stands for everything that the click knows. */
export type Purchase = Order & Pick<Sale, 'id' | 'soldAt' | 'status'> & { readonly clickId: string };

/** What a click has led to. */
export interface Visit {
  readonly retailer: Retailer;
  readonly clickId: string;
  /** What was activated, as far as that is known. */
  readonly dealId: string | undefined;
}

/** The offer that was activated decides what the purchase earns, and where; for all else, the one on everything. */
export function makePurchase(seed: number, nowMs: number, { retailer, clickId, dealId }: Visit): Purchase {
  const random = new Random(seed, 'purchase', clickId, nowMs);
  const [onEverything, ...others] = retailer.cashbackOffers;
  const offer = others.find(({ id }) => id === dealId) ?? onEverything;
  const [country] = offer?.countries ?? [];
  if (offer === undefined || country === undefined) throw new Error(`${retailer.name} has no offer`);
  return {
    id: findId(seed, nowMs),
    clickId,
    soldAt: printSecond(nowMs),
    ...makeOrder(random, offer, getCountry(country)),
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
