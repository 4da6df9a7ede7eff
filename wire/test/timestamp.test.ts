import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  dateTimeProblem,
  parseInstant,
  parseTimestamp,
  printTimestamp,
  timestampMs,
} from '../src/timestamp.ts';

const ANY_MS = fc.integer({
  min: Date.parse('0000-01-01T00:00:00Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
});

describe('formatting timestamps', () => {
  test('whole seconds are formatted without a fraction, and other times with three decimals', () => {
    expect(printTimestamp(Date.parse('2026-11-14T12:00:00Z')) as string).toBe('2026-11-14T12:00:00');
    expect(printTimestamp(Date.parse('2026-11-14T12:00:00.120Z')) as string).toBe('2026-11-14T12:00:00.120');
  });

  test('a formatted timestamp is parsed as the same moment', () => {
    fc.assert(
      fc.property(ANY_MS, (ms) => {
        expect(parseInstant(printTimestamp(ms))).toEqual({ ms, finer: false });
        expect(timestampMs(printTimestamp(ms))).toBe(ms);
        expect(parseTimestamp(printTimestamp(ms))).toBe(printTimestamp(ms));
      }),
    );
  });
});

describe('parsing timestamps', () => {
  const noon = Date.parse('2026-11-14T12:00:00Z');
  const accepted: [string, number, boolean][] = [
    ['2026-11-14T12:00:00', noon, false],
    ['2026-11-14T12:00:00Z', noon, false],
    ['2026-11-14', Date.parse('2026-11-14T00:00:00Z'), false],
    // Forms that databases, spreadsheets and people write.
    ['2026-11-14t12:00:00z', noon, false],
    ['2026-11-14T14:00:00+0200', noon, false],
    ['2026-11-14T14:00+0200', noon, false],
    ['2026-11-14 14:00:00.5+02', noon + 500, false],
    // ISO 8601's basic format with an offset, the end of a day, and the ends of a year. A test below covers the other forms.
    ['20261114T120000Z', noon, false],
    ['2026-11-14T12Z', noon, false],
    ['2026-11-13T24:00:00', Date.parse('2026-11-14T00:00:00Z'), false],
    ['2026-11-13T24', Date.parse('2026-11-14T00:00:00Z'), false],
    ['20261113T2400+0100', Date.parse('2026-11-13T23:00:00Z'), false],
    ['2026318', Date.parse('2026-11-14T00:00:00Z'), false],
    ['2026-w01-1', Date.parse('2025-12-29T00:00:00Z'), false],
    ['2026-W53-7', Date.parse('2027-01-03T00:00:00Z'), false],
    ['2024-366', Date.parse('2024-12-31T00:00:00Z'), false],
    ['2024-02-29', Date.parse('2024-02-29T00:00:00Z'), false],
    ['0000-01-01T00:00:00', Date.parse('0000-01-01T00:00:00Z'), false],
  ];
  test.each(accepted)('%s', (text, ms, finer) => {
    expect(parseInstant(text)).toEqual({ ms, finer });
  });

  test.each<string[]>([
    ['is incomplete', '', ' ', '2026', '2026-11', '2026-11-14T', '2026-11-14T12:00:00.', '2026-W46'],
    ['is a day that does not exist', '2026-02-29', '2026-00-01', '2026-13-01', '2026-01-00'],
    ['is an ordinal day that does not exist', '2026-000', '2026-366'],
    ['is in a week that does not exist', '2026-W00-1', '2026-W46-0', '2026-W46-8', '2025-W53-1'],
    ['is a time that does not exist', '2026-11-14T12:60:00', '2026-11-14T23:59:60'],
    ['is later than 24:00', '2026-11-14T24:00:00.001', '2026-11-14T24:00:00.0001', '2026-11-14T24:00:01'],
    ['is later than 24 hours by a tiny fraction', '2026-11-14T24.0000000001'],
    ['has an incomplete offset', '2026-11-14T12:00:00+020', '2026-11-14T12:00:00+2'],
    ['has a blank for the sign of the offset', '2026-11-14T12:00:00 02:00'],
    ['has an offset that does not exist', '2026-11-14T12:00:00+24:00', '2026-11-14T12:00:00+02:60'],
    ['is a date with an offset', '2026-11-14+02:00', '2026-11-14Z'],
    ['is before the year 0', '0000-01-01T00:00:00+01:00'],
    ['is after the year 9999', '9999-12-31T24:00:00', '9999-12-31T23:59:59-00:01', '12026-11-14'],
    ['has white space', '2026-11-14  12:00:00', '2026-11-14T12:00:00Z ', ' 2026-11-14T12:00:00'],
    ['ends with a line break', '2026-11-14T12:00:00\n'],
    ['has more than 100 decimals', `2026-11-14T12:00:00.${'1'.repeat(101)}`],
    ['is written in another way', '1794657600', '+2026-11-14', '٢٠٢٦-11-14'],
  ])('a date-time that %s is rejected', (_what, ...texts) => {
    for (const text of texts) expect([text, parseInstant(text)]).toEqual([text, undefined]);
  });

  test.each([
    ['yesterday', 'must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00'],
    [
      '2026-11-14T12:00:00+2',
      'must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00',
    ],
    ['2026-02-30', 'is a date-time that does not exist'],
    ['2026-11-14T24:00:01', 'is a date-time that does not exist'],
    ['2025-W53-1', 'is a date-time that does not exist'],
    ['2026-11-14T12:00:00+24:00', 'is a date-time that does not exist'],
  ])('the error for %j states whether its format is wrong or the time does not exist', (text, problem) => {
    expect(dateTimeProblem(text)).toBe(problem);
  });

  test('parses every form of date and time like Temporal', () => {
    const two = (value: number) => String(value).padStart(2, '0');
    const dates = {
      calendar: (date: Temporal.PlainDate) => date.toString().split('-'),
      ordinal: (date: Temporal.PlainDate) => [
        date.toString().slice(0, 4),
        String(date.dayOfYear).padStart(3, '0'),
      ],
      week: (date: Temporal.PlainDate) => [
        String(date.yearOfWeek).padStart(4, '0'),
        `W${two(date.weekOfYear ?? 0)}`,
        String(date.dayOfWeek),
      ],
    };
    fc.assert(
      fc.property(
        fc.integer({ min: Date.parse('0001-01-04T00:00:00Z'), max: Date.parse('9999-12-27T00:00:00Z') }),
        fc.constantFrom(...Object.values(dates)),
        fc.constantFrom('hour', 'minute', 'second', 'millisecond'),
        fc.constantFrom('.', ','),
        fc.constantFrom('T', 't', ' '),
        fc.boolean(),
        (ms, printDate, smallestUnit, mark, between, isBasic) => {
          const time = Temporal.Instant.fromEpochMilliseconds(ms)
            .toZonedDateTimeISO('UTC')
            .toPlainDateTime()
            .round({ smallestUnit, roundingMode: 'floor' });
          const parts = [time.hour, time.minute, time.second].map(two);
          const count = smallestUnit === 'hour' ? 1 : smallestUnit === 'minute' ? 2 : 3;
          const clock = parts.slice(0, count).join(isBasic ? '' : ':');
          const fraction =
            smallestUnit === 'millisecond' ? mark + String(time.millisecond).padStart(3, '0') : '';
          const date = printDate(time.toPlainDate()).join(isBasic ? '' : '-');
          expect(parseInstant(date + between + clock + fraction)).toEqual({
            ms: time.toZonedDateTime('UTC').epochMilliseconds,
            finer: false,
          });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a fraction of any unit is truncated exactly to the millisecond', () => {
    const units = [
      ['2026-11-14T12', 3_600_000],
      ['2026-11-14T12:00', 60_000],
      ['2026-11-14T12:00:00', 1_000],
    ] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...units),
        fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 40 }),
        ([text, unitMs], digits) => {
          const { ms, finer } = parseInstant(`${text}.${digits}`) ?? { ms: Number.NaN, finer: false };
          const scale = 10n ** BigInt(digits.length);
          const [exact, cut] = [BigInt(digits) * BigInt(unitMs), BigInt(ms - noon) * scale];
          expect([exact >= cut, exact < cut + scale, exact !== cut]).toEqual([true, true, finer]);
        },
      ),
    );
  });

  test('a date-time with any offset is parsed as the same moment as its UTC form', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: Date.parse('1970-01-03T00:00:00Z'), max: Date.parse('2100-01-01T00:00:00Z') }),
        fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }),
        (ms, offsetMinutes) => {
          const pad = (value: number) => String(value).padStart(2, '0');
          const size = Math.abs(offsetMinutes);
          const offset = `${offsetMinutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
          const local = printTimestamp(ms + offsetMinutes * 60_000);
          expect(parseInstant(local + offset)).toEqual({ ms, finer: false });
        },
      ),
    );
  });

  test('parsing never throws, and every parsed date-time is in canonical form', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789-:.,TWZ+ ') })),
        (text) => {
          const printed = parseTimestamp(text);
          if (printed !== undefined) expect(parseTimestamp(printed)).toBe(printed);
        },
      ),
    );
  });
});

test('the fast path returns the same timestamp as the full parser', () => {
  const two = fc.integer({ min: 0, max: 61 }).map((n) => String(n).padStart(2, '0'));
  const text = fc
    .tuple(
      fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0')),
      fc.oneof(fc.constantFrom('01', '02', '06', '12'), two),
      fc.oneof(fc.constantFrom('01', '28', '29', '30', '31'), two),
      fc.oneof(fc.constantFrom('00', '23', '24'), two),
      two,
      two,
      fc.constantFrom('', '', '.000', '.120', '.001', '.5', '.1234', '.'),
      fc.constantFrom('', '', 'Z', '+02:00', '\n', ' '),
    )
    .map(([year, month, day, hour, minute, second, fraction, zone]) => {
      return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`;
    });
  fc.assert(
    fc.property(text, (value) => {
      const instant = parseInstant(value);
      const printed = instant === undefined ? undefined : printTimestamp(instant.ms);
      expect(parseTimestamp(value)).toBe(printed as never);
    }),
    { numRuns: 2000 },
  );
});
