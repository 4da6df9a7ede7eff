import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CanonicalRow } from '../src/canonical-row.ts';
import { COPY_CANONICAL_DEAL, retailerRowSchema } from '../src/catalogue.ts';
import { DEAL_LISTS } from '../src/deals.ts';
import { printJson } from '../src/decimal.ts';
import type { Timestamp } from '../src/timestamp.ts';
import {
  canonicalTransactionLine,
  printTransaction,
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
const weighted = <T>(...cases: (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]) =>
  fc.oneof(...cases.map(([weight, arbitrary]) => ({ weight, arbitrary })));
/** Mostly valid values, some that are nearly valid, and some of any type. */
const sometimes = (good: fc.Arbitrary<unknown>, ...nearly: fc.Arbitrary<unknown>[]) =>
  weighted([40, good], [1, fc.oneof(...nearly, anything)]);
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
const changed = weighted(
  [10, row],
  [1, row.map(({ couponId: _, ...rest }) => rest)],
  [1, row.map(({ updatedAt: _, ...rest }) => rest)],
  [1, row.map((all) => ({ ...all, extra: 1 }))],
  [4, fc.tuple(row, orNull(time)).map(([all, sourceUpdatedAt]) => ({ ...all, sourceUpdatedAt }))],
  // As `offerbook convert` writes them.
  [
    4,
    fc
      .tuple(row, orNull(uuid), orNull(time))
      .map(([all, retailerId, sourceUpdatedAt]) => ({ ...all, retailerId, sourceUpdatedAt })),
  ],
  [1, row.map((all) => JSON.parse(`{"__proto__":1,${JSON.stringify(all).slice(1)}`))],
  [1, anything],
);

test('a row contains only strings that strict JSON parsers and both databases accept', () => {
  const schema = transactionRowSchema('refuse', 'keep');
  fc.assert(
    fc.property(nearlyText, (text) => {
      const readable = Buffer.from(text).toString() === text && !text.includes('\0');
      expect(schema.safeParse(transaction({ passbackData: text })).success).toBe(readable);
    }),
  );
});

describe('lines that are recognised as canonical', () => {
  const stamp = '2026-11-18T02:00:00.123' as Timestamp;
  const shuffled = fc.tuple(changed, fc.infiniteStream(fc.nat())).map(([value, random]) => {
    if (typeof value !== 'object' || value === null) return value;
    const order = Object.keys(value).map((name) => ({ name, at: random.next().value as number }));
    const sorted = order.toSorted((a, b) => a.at - b.at);
    return Object.fromEntries(sorted.map(({ name }) => [name, (value as Record<string, unknown>)[name]]));
  });
  const printed = (value: unknown) => printJson(value) ?? '';
  const line = weighted(
    [20, changed.map(printed)],
    [1, row.map((all) => `${printed(all)}\r`)],
    [1, row.map((all) => ` ${printed(all)}`)],
    [1, row.map((all) => printed(all).replace('"cashback":', '"cashback":0'))],
    [1, row.map((all) => printed(all).replace('"cashback":', '"cashback":1,"cashback":'))],
    [1, row.map((all) => JSON.stringify(all, null, 1).replaceAll('\n', ''))],
    [1, shuffled.map(printed)],
  );

  test.each(['keep', 'ignore'] as const)(
    'a canonical line has the same fields and the same document as its JSON if updatedAt is to %s',
    (updatedAt) => {
      const readLine = canonicalTransactionLine(updatedAt);
      const schema = transactionRowSchema('refuse', updatedAt);
      let taken = 0;
      fc.assert(
        fc.property(line, (text) => {
          const found = readLine(text);
          if (found === undefined) return;
          taken++;
          const { sourceUpdatedAt, retailerId, ...parsed } = schema.parse(JSON.parse(text));
          // The line may have a source time or a retailer of null, which means the same as none.
          expect<unknown>({ ...found }).toEqual({
            ...parsed,
            ...(sourceUpdatedAt == null ? {} : { sourceUpdatedAt }),
            ...(retailerId == null ? {} : { retailerId }),
          });
          const transaction = found as unknown as Transaction;
          expect(printTransaction(transaction, stamp)).toBe(printTransaction({ ...transaction }, stamp));
        }),
        { numRuns: 1_400 },
      );
      expect(taken).toBeGreaterThan(140);
    },
  );

  test('an exported line is recognised, and a line without updatedAt is recognised unless updatedAt must be kept', () => {
    const exported = transaction({ clickedAt: null, orderValue: 0, cashback: 12.5, passbackUid: 'Zoë €' });
    const { updatedAt: _, ...unstamped } = exported;
    const isRead = (rule: 'keep' | 'ignore', value: unknown) =>
      canonicalTransactionLine(rule)(printJson(value)) instanceof CanonicalRow;
    expect([isRead('keep', exported), isRead('ignore', exported)]).toEqual([true, true]);
    expect([isRead('keep', unstamped), isRead('ignore', unstamped)]).toEqual([false, true]);
    expect(isRead('ignore', { ...unstamped, sourceUpdatedAt: '2026-11-14T12:00:00' })).toBe(true);
    const retailerId = unstamped.id;
    expect(isRead('ignore', { ...unstamped, retailerId, sourceUpdatedAt: '2026-11-14T12:00:00' })).toBe(true);
    expect(isRead('ignore', { ...unstamped, clickId: 'x' })).toBe(false);
  });

  test('a changed copy of a canonical row is serialised with its changes', () => {
    const found = canonicalTransactionLine('keep')(printJson(transaction())) as unknown as Transaction;
    expect(JSON.parse(printTransaction({ ...found, passbackUid: null }, stamp))).toEqual({
      ...transaction({ passbackUid: null }),
      updatedAt: stamp,
    });
  });

  test('a line longer than 60,000 characters is left to the JSON parser, which applies the limits', () => {
    const readLine = canonicalTransactionLine('keep');
    const length = printJson(transaction({ passbackData: '' })).length;
    const ofLength = (wanted: number) =>
      printJson(transaction({ passbackData: 'x'.repeat(wanted - length) }));
    expect(readLine(ofLength(60_000))).toBeInstanceOf(CanonicalRow);
    expect(readLine(ofLength(60_001))).toBeUndefined();
  });
});

const url = sometimes(
  fc.constantFrom('https://shop.example/', 'http://shop.example/ä?b=c', 'HTTPS://SHOP.EXAMPLE'),
  fc.constantFrom(
    'https://user@shop.example/',
    'ftp://shop.example/',
    'https://',
    'https://a b/',
    '',
    'https://\0/',
  ),
);
const words = sometimes(fc.string({ unit: 'binary' }), nearlyText);
const period = { startDate: time, endDate: time };
const deals = {
  cashbackOffers: fc.record({
    id: uuid,
    featured: sometimes(fc.boolean(), fc.constantFrom(0, 'true', null)),
    countries: sometimes(
      fc.array(fc.constantFrom('DE', 'SE'), { maxLength: 3 }),
      fc.constantFrom(['de'], ['DE', null], Array(700).fill('DE'), { length: 0 }),
    ),
    cashbackPercentage: sometimes(
      fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
      fc.constantFrom(-0.1, -0, 1.1, 1e-20, 0.1234567890123456, Number.NaN),
    ),
    maximumFixedCommissionFee: orNull(amount),
    description: words,
    category: words,
    termsAndExclusions: words,
  }),
  coupons: fc.record({ code: words, id: uuid, description: words, ...period }),
  promotions: fc.record({ id: uuid, description: words, ...period, deepLink: url }),
};

describe('deals that are recognised as canonical', () => {
  test.each(DEAL_LISTS)(
    '%s are copied exactly as the schema would return them, in any field order',
    (list) => {
      const schema = retailerRowSchema('refuse').shape[list].element;
      const deal: fc.Arbitrary<object> = deals[list];
      const shuffled = deal.chain((value) =>
        fc
          .shuffledSubarray(Object.entries(value), { minLength: Object.keys(value).length })
          .map((entries) => Object.fromEntries(entries)),
      );
      const extended = weighted(
        [10, shuffled],
        [1, shuffled.map((value) => ({ ...value, extra: 1 }))],
        [1, shuffled.map(({ description: _, ...rest }) => rest)],
        [1, shuffled.map(({ description: _, ...rest }) => ({ ...rest, extra: '' }))],
        [1, anything],
      );
      let taken = 0;
      fc.assert(
        fc.property(extended, (value) => {
          const copy = COPY_CANONICAL_DEAL[list](value);
          if (copy === undefined) return;
          taken++;
          const { data } = schema.safeParse(value);
          expect(copy).toEqual(data as object);
          expect(JSON.stringify(copy)).toBe(JSON.stringify(data));
        }),
        { numRuns: 700 },
      );
      expect(taken).toBeGreaterThan(70);
    },
  );
});
