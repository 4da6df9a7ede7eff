// Sale ids: version 7 UUIDs whose random bits are derived from the seed. An id contains the time at which the sale was
// reported, so the sale's life cycle can be recomputed after a restart without stored state.

/** Maximum number of sales per time cell: an id has three hexadecimal digits for the sale's number. */
export const SALES_PER_CELL_MAX = 4096;

export function saleId(seed: number, reportedAtMs: number, number: number): string {
  const time = reportedAtMs.toString(16).padStart(12, '0');
  const count = number.toString(16).padStart(3, '0');
  const bits = Bun.hash.xxHash64(`${seed}/sale/${reportedAtMs}/${number}`).toString(16).padStart(16, '0');
  const variant = '89ab'[Number.parseInt(bits.slice(0, 1), 16) % 4];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variant}${bits.slice(1, 4)}-${bits.slice(4)}`;
}

export function reportedAtMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** False for transactions that users have imported into the sandbox themselves. */
export function isSaleId(seed: number, id: string): boolean {
  return saleId(seed, reportedAtMs(id), Number.parseInt(id.slice(15, 18), 16)) === id;
}
