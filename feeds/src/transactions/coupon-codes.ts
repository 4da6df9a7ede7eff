// Finds a sale's coupon by its code. Searches several catalogues, because networks list a coupon for weeks but may decide
// on its sales months later.

import { type Coupon, type Retailer, RetailerSchema } from '@offerbook/wire/catalogue.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { readRows } from '@offerbook/wire/rows/read-rows.ts';
import { RETAILER_LIMITS } from '@offerbook/wire/rows/row-limits.ts';
import { checkRow, printProblem } from '@offerbook/wire/rows/row-problem.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';

export class CouponCodes {
  readonly #coupons = new Map<string, Coupon[]>();

  add(retailerId: Uuid, coupons: readonly Coupon[]): void {
    for (const coupon of coupons) {
      const known = this.#coupons.getOrInsertComputed(keyOf(retailerId, coupon.code), () => []);
      // Consecutive catalogues have most coupons in common.
      if (!known.some((other) => Bun.deepEquals(other, coupon))) known.push(coupon);
    }
  }

  /**
   * Finds the retailer's coupon with this code that was active at the time of the sale. Returns null if none or
   * several match.
   */
  find(retailerId: Uuid, code: string, soldAt: Timestamp): Uuid | null {
    const known = this.#coupons.get(keyOf(retailerId, code)) ?? [];
    const active = known.filter(({ startDate, endDate }) => startDate <= soldAt && soldAt < endDate);
    const first = active[0]?.id ?? null;
    // Catalogues can have different versions of the same coupon.
    return active.every(({ id }) => id === first) ? first : null;
  }
}

function keyOf(retailerId: Uuid, code: string): string {
  return `${retailerId} ${code}`;
}

export async function readCouponCodes(files: readonly ImportSource[]): Promise<CouponCodes> {
  const codes = new CouponCodes();
  for (const file of files) await addFile(codes, file);
  return codes;
}

async function addFile(codes: CouponCodes, file: ImportSource): Promise<void> {
  try {
    const rules = { columns: undefined, limits: RETAILER_LIMITS, ignoreUnknown: false };
    for await (const rows of readRows(file.chunks(), rules)) {
      for (const row of rows) {
        const { value, problems } = checkRow<Retailer>(row, RetailerSchema);
        if (problems !== undefined)
          throw new BadInput(`${file.name}, ${problems.map(printProblem).join('; ')}`);
        codes.add(value.id, value.coupons);
      }
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    throw new BadInput(printProblem({ ...error.place, ...error.problem, file: file.name }), { cause: error });
  }
}
