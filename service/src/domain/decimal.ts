// Amounts and fractions. A number of up to 15 significant digits survives the trip through a binary double and back,
// so no more are accepted: 19.99 in is 19.99 out, and nothing is ever rounded. No more than 15 digits may stand on
// either side of the point, zeros included, so that readers can keep it in a decimal column.

export const DIGITS_MAX = 15;

/** Whether a number has at most 15 significant digits and, written out in full, at most 15 on either side of the point. */
export function isExactDecimal(value: number): boolean {
  // Almost every amount has at most four decimals and is small: no text is needed to tell.
  if (Math.abs(value) < 1e10 && Math.round(value * 1e4) / 1e4 === value) return true;
  return Number.isFinite(value) && isExactLiteral(String(value));
}

/**
 * The number that a literal stands for, or infinity when it has more digits than a double can keep. The check for
 * exact decimals then refuses it; a rounded neighbour would pass.
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

/** As JSON.stringify prints it, but with every digit of small numbers: 0.0000001 where that would print 1e-7. */
export function printJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return EXPONENT.test(text) ? JSON.stringify(value, writeOut, indent) : text;
}

/** An amount for people: all its digits, and at least two behind the point. */
export function printMoney(value: number | { toJSON(): unknown }): string {
  const [whole, fraction = ''] = printJson(value).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/** Also found in some texts, for which the longer way prints the same. Large numbers with exponents are not exact decimals. */
const EXPONENT = /\de-\d+(?:[,\]}\n]|$)/;

/** Newer than the library's types: stands for a number that is printed as this text. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

export { rawJson };

function writeOut(_key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const [, sign = '', digit = '', fraction = '', exponent] = SMALL_NUMBER.exec(String(value)) ?? [];
  if (exponent === undefined) return value;
  return rawJson(`${sign}0.${'0'.repeat(Number(exponent) - 1)}${digit}${fraction}`);
}

const SMALL_NUMBER = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/;
