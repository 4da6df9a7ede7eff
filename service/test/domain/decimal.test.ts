import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isExactDecimal, parseDecimal, printJson } from '../../src/domain/decimal.ts';

describe('exact decimals', () => {
  test.each([0, 0.1, 19.99, 0.07, 1e10, 123456789012345, 999999999999999, 0.000001, 12345678901.2345, 1e14])(
    '%p is kept',
    (value) => {
      expect(isExactDecimal(value)).toBe(true);
    },
  );

  test.each([
    1e15,
    1e300,
    0.1 + 0.2,
    1234567890123456,
    12345678901.23456,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('%p is refused', (value) => {
    expect(isExactDecimal(value)).toBe(false);
  });

  const literals: [string, number][] = [
    ['19.99', 19.99],
    ['19.990', 19.99],
    ['0019.99', 19.99],
    ['1e2', 100],
    ['-5', -5],
    ['1.5E-3', 0.0015],
    ['100000000000000.0000', 1e14],
    ['0.10000000000000000555', Number.POSITIVE_INFINITY],
    ['1234567890123456', Number.POSITIVE_INFINITY],
    ['1e400', Number.POSITIVE_INFINITY],
    ['1,5', Number.POSITIVE_INFINITY],
  ];
  test.each(literals)('the literal %s stands for %p', (literal, value) => {
    expect(parseDecimal(literal)).toBe(value);
  });

  test('any amount of up to 15 digits is printed as it was written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
        fc.integer({ min: 0, max: 15 }),
        fc.boolean(),
        (digits, decimals, isNegative) => {
          const text = digits.toString().padStart(decimals + 1, '0');
          const number = decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
          const written = isNegative && digits > 0n ? `-${number}` : number;
          const value = parseDecimal(written);
          expect(isExactDecimal(value)).toBe(true);
          const shortest = written.includes('.') ? written.replace(/0+$/, '').replace(/\.$/, '') : written;
          // Wherever it stands, and whatever stands beside it.
          expect(printJson(value)).toBe(shortest);
          expect(printJson({ a: [value, 'x:1e-7,'], b: '1e-7' })).toBe(
            `{"a":[${shortest},"x:1e-7,"],"b":"1e-7"}`,
          );
          expect(printJson({ a: value }, 2)).toBe(`{\n  "a": ${shortest}\n}`);
        },
      ),
    );
  });

  test('whatever has no small numbers is printed as JSON.stringify prints it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/e-/.test(text));
        expect(printJson(value)).toBe(text);
      }),
    );
  });
});
