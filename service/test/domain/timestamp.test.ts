import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  dateTimeProblem,
  parseInstant,
  parseTimestamp,
  printTimestamp,
  timestampMs,
} from '../../src/domain/timestamp.ts';

const ANY_MS = fc.integer({
  min: Date.parse('0000-01-01T00:00:00Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
});

describe('printing', () => {
  test('whole seconds have no fraction, anything else has three digits', () => {
    expect(printTimestamp(Date.parse('2026-11-14T12:00:00Z')) as string).toBe('2026-11-14T12:00:00');
    expect(printTimestamp(Date.parse('2026-11-14T12:00:00.120Z')) as string).toBe('2026-11-14T12:00:00.120');
  });

  test('what is printed is read back as the same moment', () => {
    fc.assert(
      fc.property(ANY_MS, (ms) => {
        expect(parseInstant(printTimestamp(ms))).toEqual({ ms, finer: false });
        expect(timestampMs(printTimestamp(ms))).toBe(ms);
        expect(parseTimestamp(printTimestamp(ms))).toBe(printTimestamp(ms));
      }),
    );
  });

  test('the order of the texts is the order of the times', () => {
    fc.assert(
      fc.property(ANY_MS, fc.integer({ min: 0, max: 5_000 }), (ms, later) => {
        const [a, b] = [
          printTimestamp(ms),
          printTimestamp(Math.min(ms + later, Date.parse('9999-12-31T23:59:59.999Z'))),
        ];
        expect(a <= b).toBe(true);
      }),
    );
  });
});

describe('reading', () => {
  const noon = Date.parse('2026-11-14T12:00:00Z');
  const accepted: [string, number, boolean][] = [
    ['2026-11-14T12:00:00', noon, false],
    ['2026-11-14T12:00:00Z', noon, false],
    ['2026-11-14T14:00:00+02:00', noon, false],
    ['2026-11-14T06:30:00-05:30', noon, false],
    ['2026-11-14', Date.parse('2026-11-14T00:00:00Z'), false],
    ['2026-11-14T12:00:00.5', noon + 500, false],
    ['2026-11-14T12:00:00.123', noon + 123, false],
    ['2026-11-14T12:00:00.123000', noon + 123, false],
    ['2026-11-14T12:00:00.1239', noon + 123, true],
    ['2026-11-14T12:00:00.9999999999999', noon + 999, true],
    // Forms that databases, spreadsheets and people write.
    ['2026-11-14T12:00', noon, false],
    ['2026-11-14 12:00:00', noon, false],
    ['2026-11-14 12:00', noon, false],
    ['2026-11-14t12:00:00z', noon, false],
    ['2026-11-14T14:00:00+0200', noon, false],
    ['2026-11-14T14:00+0200', noon, false],
    ['2026-11-14 14:00:00.5+02', noon + 500, false],
    ['2024-02-29', Date.parse('2024-02-29T00:00:00Z'), false],
    ['0000-01-01T00:00:00', Date.parse('0000-01-01T00:00:00Z'), false],
  ];
  test.each(accepted)('%s', (text, ms, finer) => {
    expect(parseInstant(text)).toEqual({ ms, finer });
  });

  const refused = [
    '',
    ' ',
    'now',
    '2026',
    '2026-11',
    '2026-11-14T',
    '2026-11-14T12',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-00-01',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-11-14T24:00:00',
    '2026-11-14T12:60:00',
    '2026-11-14T23:59:60',
    '2026-11-14T12:00:00.',
    '2026-11-14T12:00:00,5',
    '2026-11-14  12:00:00',
    '2026-11-14T12:00.5',
    '2026-11-14+02:00',
    '2026-11-14T12:00:00+020',
    '2026-11-14T12:00:00+2',
    '2026-11-14T12:00:00 02:00',
    '2026-11-14T12:00:00+24:00',
    '2026-11-14T12:00:00+02:60',
    '+2026-11-14',
    '12026-11-14',
    '20261114T120000',
    '2026-11-14T12:00:00Z ',
    ' 2026-11-14T12:00:00',
    '2026-11-14Z',
    '٢٠٢٦-11-14',
    '0000-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-00:01',
    '2026-11-14T12:00:00\n',
  ];
  test.each(refused)('%p is refused', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test.each([
    ['yesterday', 'must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00'],
    [
      '2026-11-14T12:00:00+2',
      'must be a date-time such as 2026-11-14T12:00:00 (UTC) or 2026-11-14T13:00:00+01:00',
    ],
    ['2026-02-30', 'is a date-time that does not exist'],
    ['2026-11-14T24:00:00', 'is a date-time that does not exist'],
    ['2026-11-14T12:00:00+24:00', 'is a date-time that does not exist'],
  ])('what is wrong with %j is its form, or that it does not exist', (text, problem) => {
    expect(dateTimeProblem(text)).toBe(problem);
  });

  test('any offset names the same moment as the time it stands for in UTC', () => {
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

  test('no text makes it throw, and what it accepts it can print', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789-:.TZ+ ') })),
        (text) => {
          const printed = parseTimestamp(text);
          if (printed !== undefined) expect(parseTimestamp(printed)).toBe(printed);
        },
      ),
    );
  });
});
