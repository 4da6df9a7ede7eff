import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  canonicalTransactionRow,
  STATUSES,
  type Transaction,
  transactionRowSchema,
} from '../src/transaction.ts';
import { transaction } from './fixture.ts';

const canonicalUuid = fc.uuid();
const canonicalTime = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().replace(/(\.000)?Z$/, ''));
const anything = fc.anything({ maxDepth: 1 });
/** Mostly valid values, some that are nearly valid, and some of any type. */
const sometimes = (good: fc.Arbitrary<unknown>, ...nearly: fc.Arbitrary<unknown>[]) =>
  fc.oneof({ arbitrary: good, weight: 40 }, { arbitrary: fc.oneof(...nearly, anything), weight: 1 });
const uuid = sometimes(
  canonicalUuid,
  canonicalUuid.map((id) => id.toUpperCase()),
  canonicalUuid.map((id) => `${id}\n`),
);
const time = sometimes(
  canonicalTime,
  canonicalTime.map((text) => `${text}Z`),
  fc.constantFrom('2026-02-29T00:00:00', '2026-02-30T00:00:00', '2026-11-14', '2026-11-14T12:00:00.000'),
);
const amount = sometimes(
  fc.oneof(
    fc.nat().map((cents) => cents / 100),
    fc.nat(),
  ),
  fc.double(),
  fc.constantFrom(-1, -0, 1e15, 1e16, Number.NaN, Number.POSITIVE_INFINITY, '1'),
);
/** Strings with paired and unpaired surrogates, and NUL. */
const nearlyText = fc.string({ unit: fc.constantFrom('a', '\0', '\ud83d', '\ude00') });
const orNull = (field: fc.Arbitrary<unknown>) => fc.oneof(fc.constant(null), field);
const row = fc.record(
  {
    id: uuid,
    country: sometimes(fc.constantFrom('DE', 'SE'), fc.constantFrom('de', 'DEU', 'DE\n')),
    clickedAt: orNull(time),
    soldAt: time,
    updatedAt: time,
    currencyCode: sometimes(fc.constantFrom('EUR', 'SEK'), fc.constantFrom('eur', 'EU', 'EUR\n')),
    orderValue: amount,
    cashback: amount,
    activatedAt: orNull(time),
    passbackUid: orNull(sometimes(fc.string({ unit: 'binary' }), nearlyText)),
    passbackData: orNull(sometimes(fc.string())),
    status: sometimes(fc.constantFrom(...STATUSES), fc.constantFrom('pending', 'OTHER')),
    cashbackOfferId: orNull(uuid),
    couponId: orNull(uuid),
    promotionId: orNull(uuid),
  } satisfies Record<keyof Transaction, fc.Arbitrary<unknown>>,
  { noNullPrototype: true },
);
const changed = fc.oneof(
  { arbitrary: row, weight: 10 },
  { arbitrary: row.map(({ couponId: _, ...rest }) => rest), weight: 1 },
  { arbitrary: row.map(({ updatedAt: _, ...rest }) => rest), weight: 1 },
  { arbitrary: row.map((all) => ({ ...all, extra: 1 })), weight: 1 },
  {
    arbitrary: fc.tuple(row, orNull(time)).map(([all, sourceUpdatedAt]) => ({ ...all, sourceUpdatedAt })),
    weight: 4,
  },
  { arbitrary: row.map((all) => JSON.parse(`{"__proto__":1,${JSON.stringify(all).slice(1)}`)), weight: 1 },
  { arbitrary: anything, weight: 1 },
);

describe('rows that are recognised as canonical', () => {
  test.each(['keep', 'ignore'] as const)(
    'the schema returns a canonical row unchanged if updatedAt is to %s',
    (updatedAt) => {
      const isCanonical = canonicalTransactionRow(updatedAt);
      const schema = transactionRowSchema('refuse', updatedAt);
      let taken = 0;
      fc.assert(
        fc.property(changed, (value) => {
          if (!isCanonical(value)) return;
          taken++;
          expect(schema.safeParse(value)).toEqual({ success: true, data: value as never });
        }),
        { numRuns: 1_500 },
      );
      expect(taken).toBeGreaterThan(150);
    },
  );

  test('a canonical row may have a canonical source time', () => {
    const isCanonical = canonicalTransactionRow('ignore');
    const isAccepted = (sourceUpdatedAt: unknown) => isCanonical(transaction({ sourceUpdatedAt }));
    expect([null, '2026-11-14T12:00:00', '2026-11-14T12:00:00.5'].map(isAccepted)).toEqual([
      true,
      true,
      false,
    ]);
    expect(['2026-11-14', '2026-11-14T12:00:00Z', 1, ''].some(isAccepted)).toBe(false);
  });

  test('a canonical row contains only strings that strict JSON parsers and both databases accept', () => {
    const isCanonical = canonicalTransactionRow('keep');
    fc.assert(
      fc.property(nearlyText, (text) => {
        const readable = Buffer.from(text).toString() === text && !text.includes('\0');
        expect(isCanonical(transaction({ passbackData: text }))).toBe(readable);
      }),
    );
  });
});
