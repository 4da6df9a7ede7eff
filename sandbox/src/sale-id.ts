// Ids of sales: UUIDs of version 7 whose random bits the seed decides. The id alone tells when the sale was
// reported, so what is to become of it can be worked out again after a restart without keeping anything.

/** Sales of one cell of time; the number has three hexadecimal digits in the id. */
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

/** Whether the sandbox made this id: somebody may have imported transactions of their own beside its. */
export function isSaleId(seed: number, id: string): boolean {
  return saleId(seed, reportedAtMs(id), Number.parseInt(id.slice(15, 18), 16)) === id;
}
