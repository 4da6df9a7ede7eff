// Exact decimals in doubles. Up to 15 significant digits survive the round trip through a double, so longer numbers are
// rejected: 19.99 in is 19.99 out, and nothing is rounded. At most 15 digits, zeros included, are allowed on either side of
// the decimal point, so that clients can use a decimal column.

export const DIGITS_MAX = 15;

/** True for at most 15 significant digits and, without exponent, at most 15 digits on either side of the point. */
export function isExactDecimal(value: number): boolean {
  // Fast path: most amounts are small and have at most four decimals.
  if (Math.abs(value) < 1e10 && Math.round(value * 1e4) / 1e4 === value) return true;
  return Number.isFinite(value) && isExactLiteral(String(value));
}

/**
 * Parses a literal; returns infinity if it has more digits than a double can hold exactly. The check for exact decimals
 * then rejects infinity, whereas a rounded value would pass.
 */
export function parseDecimal(literal: string): number {
  return isExactLiteral(literal) ? Number(literal) : Number.POSITIVE_INFINITY;
}

function isExactLiteral(literal: string): boolean {
  const match = /^-?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (match === null) return false;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '').replace(/0+$/, '');
  if (digits === '') return true;
  const zerosCut = (whole + fraction).length - (whole + fraction).replace(/0+$/, '').length;
  const decimals = fraction.length - zerosCut - Number(exponent);
  const digitsWhole = digits.length - decimals;
  return digits.length <= DIGITS_MAX && digitsWhole <= DIGITS_MAX && decimals <= DIGITS_MAX;
}

/** Like JSON.stringify, but without exponents for small numbers: 0.0000001 instead of 1e-7. */
export function printJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return EXPONENT.test(text) ? JSON.stringify(value, writeOut, indent) : text;
}

/** Formats an amount for display: all its digits, at least two decimals. */
export function printMoney(value: number | { toJSON(): unknown }): string {
  const [whole, fraction = ''] = printJson(value).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/**
 * May also match inside strings; the slow path then prints the same. Large numbers with exponents cannot occur: they are not
 * exact decimals.
 */
const EXPONENT = /\de-\d+(?:[,\]}\n]|$)/;

/** JSON.rawJSON is missing in the library's types. It represents a number printed as the given text. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

export { rawJson };

function writeOut(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const [, sign = '', digit = '', fraction = '', exponent] = SMALL_NUMBER.exec(String(value)) ?? [];
  if (exponent === undefined) return value;
  return rawJson(`${sign}0.${'0'.repeat(Number(exponent) - 1)}${digit}${fraction}`);
}

const SMALL_NUMBER = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/;
