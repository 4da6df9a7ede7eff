import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DecimalSum } from '../src/amount.ts';
import { isExactDecimal, parseDecimal, printJson, printMoney } from '../src/decimal.ts';

describe('exact decimals', () => {
  test.each([
    1e15,
    1e300,
    0.1 + 0.2,
    1234567890123456,
    12345678901.23456,
    100000000000.0001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('%p is rejected', (value) => {
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
  test.each(literals)('the literal %s is parsed as %p', (literal, value) => {
    expect(parseDecimal(literal)).toBe(value);
  });

  test('an amount of up to 15 digits is formatted exactly as it was written', () => {
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
          // The result is the same at any position in a value, next to any other text.
          expect(printJson(value)).toBe(shortest);
          expect(printJson({ a: [value, 'x:1e-7,'], b: '1e-7' })).toBe(
            `{"a":[${shortest},"x:1e-7,"],"b":"1e-7"}`,
          );
          expect(printJson({ a: value }, 2)).toBe(`{\n  "a": ${shortest}\n}`);
        },
      ),
    );
  });

  test('sums of amounts of any size are exact, as are sums of sums', () => {
    const amount = fc
      .tuple(
        fc.oneof(fc.bigInt({ min: 0n, max: 999_999n }), fc.bigInt({ min: 0n, max: 999_999_999_999_999n })),
        fc.integer({ min: 0, max: 15 }),
      )
      .map(([digits, decimals]) => ({ units: digits * 10n ** BigInt(15 - decimals), digits, decimals }));
    fc.assert(
      fc.property(fc.array(fc.array(amount, { maxLength: 40 }), { maxLength: 4 }), (groups) => {
        const sums = groups.map((group) => {
          const sum = new DecimalSum();
          for (const { digits, decimals } of group) sum.add(Number(`${digits}e-${decimals}`));
          return sum;
        });
        const expected = groups.flat().reduce((total, { units }) => total + units, 0n);
        const text = expected.toString().padStart(16, '0');
        const written = `${text.slice(0, -15)}.${text.slice(-15)}`.replace(/0+$/, '').replace(/\.$/, '');
        expect(DecimalSum.of(sums).toString()).toBe(written);
        expect(printJson({ sum: DecimalSum.of(sums) })).toBe(`{"sum":${written}}`);
      }),
    );
    const many = new DecimalSum();
    for (let i = 0; i < 200; i++) many.add(9_999_999_999.9999);
    expect(many.toString()).toBe('1999999999999.98');
  });

  test.each([
    [5, '5.00'],
    [12.5, '12.50'],
    [1.235, '1.235'],
    [0.00001234, '0.00001234'],
    [1e-15, '0.000000000000001'],
    [999_999_999_999_999, '999999999999999.00'],
  ])('the amount %p is formatted as %s: all its digits, at least two decimals', (value, text) => {
    expect(printMoney(value)).toBe(text);
  });

  test('printJson() serialises values without small numbers as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/e-/.test(text));
        expect(printJson(value)).toBe(text);
      }),
    );
  });
});
