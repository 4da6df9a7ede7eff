// Exact decimals in doubles. Up to 15 significant digits survive the round trip through a double, so longer numbers are
// rejected and nothing is ever rounded. At most 15 digits, including zeros, are allowed on either side of the decimal point,
// so that clients can use a decimal column.

export const DIGITS_MAX = 15;

/** True for at most 15 significant digits and at most 15 digits on either side of the decimal point. */
export function isExactDecimal(value: number): boolean {
  // Fast path: most amounts have at most 11 digits before the decimal point and four after it.
  if (Math.abs(value) < 1e11 && Math.round(value * 1e4) / 1e4 === value) return true;
  return Number.isFinite(value) && isExactLiteral(String(value));
}

/** Returns infinity, which isExactDecimal rejects, if a double cannot represent the literal exactly. */
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

/** Formats an amount with all its digits, and at least two decimals. */
export function printMoney(value: number | { toJSON(): unknown }): string {
  const [whole, fraction = ''] = printJson(value).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/**
 * Also matches inside strings, which is harmless: the slow path returns the same text. Ignores positive exponents, because
 * JavaScript prints them only from 1e21, and isExactDecimal rejects numbers that large.
 */
const EXPONENT = /\de-\d+(?:[,\]}\n]|$)/;

/** JSON.rawJSON creates a value that JSON.stringify serialises as the given text. TypeScript's library does not declare it. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

export { rawJson };

function writeOut(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const [, sign = '', digit = '', fraction = '', exponent] = SMALL_NUMBER.exec(String(value)) ?? [];
  if (exponent === undefined) return value;
  return rawJson(`${sign}0.${'0'.repeat(Number(exponent) - 1)}${digit}${fraction}`);
}

const SMALL_NUMBER = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/;
