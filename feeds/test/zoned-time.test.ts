// Times in zones (compared with Temporal), ends of days, and time patterns.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { findPatternFault, parseEnd, parseTime, patternReader } from '../src/zoned-time.ts';
import { TEST_SEED } from './seed.ts';

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', 'Africa/Cairo'];
const anyMoment = fc.integer({ min: Date.UTC(1990), max: Date.UTC(2040) }).map((ms) => ms - (ms % 1000));

test('a local time becomes the matching UTC time, or the earlier of two', () => {
  fc.assert(
    fc.property(anyMoment, fc.constantFrom(...ZONES), fc.constantFrom('T', ' '), (ms, zone, between) => {
      const clock = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDateTime();
      const read = parseTime(clock.toString({ smallestUnit: 'second' }).replace('T', between), zone);
      const readMs = Date.parse(`${read}Z`);
      const isRepeated = clock.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds === ms;
      expect(readMs === ms || (isRepeated && readMs < ms)).toBe(true);
    }),
    { numRuns: 2_000, seed: TEST_SEED },
  );
});

test.each([
  ['2026-11-14T12:00:00Z', '2026-11-14T12:00:00'],
  ['2026-11-14T12:00:00+01:00', '2026-11-14T11:00:00'],
  ['2026-11-14 12:00:00 +0100', '2026-11-14T11:00:00'],
  ['2026-11-14 12:00:00.5', '2026-11-14T11:00:00.500'],
  ['2026-11-14', '2026-11-13T23:00:00'],
  ['2026-03-29T02:30:00', undefined],
  ['2026-02-30', undefined],
  ['2026-11-14T24:00:00', '2026-11-14T23:00:00'],
  ['2026-11-14T24:00:01', undefined],
  ['2026-11-14T12:00', undefined],
  ['14.11.2026', undefined],
  ['Sat Nov 14 2026', undefined],
  ['', undefined],
  ['9999-12-31T23:59:59-23:59', undefined],
])('%p is %p in Berlin', (text, expected) => {
  expect(parseTime(text, 'Europe/Berlin') as string | undefined).toBe(expected);
});

test.each([
  ['2026-11-30', 'UTC', '2026-12-01T00:00:00'],
  ['2026-11-30', 'America/New_York', '2026-12-01T05:00:00'],
  ['2026-03-29', 'Europe/Berlin', '2026-03-29T22:00:00'],
  ['2026-11-30T10:00:00', 'UTC', '2026-11-30T10:00:00'],
  ['9999-12-31', 'UTC', '9999-12-31T23:59:59'],
  ['2026-02-29', 'UTC', undefined],
  // Cairo's clocks were set forward at midnight, so that day starts at one.
  ['2014-05-15', 'Africa/Cairo', '2014-05-15T22:00:00'],
])('the end %p in %s is %p', (text, zone, expected) => {
  expect(parseEnd(text, zone) as string | undefined).toBe(expected);
});

test('parses times in a pattern and rejects any other text', () => {
  const read = patternReader('DD.MM.YYYY HH:mm');
  const berlin = (text: string) => read(text, 'Europe/Berlin');
  expect(berlin('14.11.2026 13:00') as string).toBe('2026-11-14T12:00:00');
  expect([berlin('14.11.2026'), berlin('14-11-2026 13:00'), berlin('31.11.2026 13:00')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const day = patternReader('DD/MM/YYYY', parseEnd);
  expect(day('30/11/2026', 'UTC') as string).toBe('2026-12-01T00:00:00');
});

test.each([
  ['DD.MM.YYYY HH:MM', 'has MM twice: minutes are mm'],
  ['DD.MM.YYYY DD', 'has DD twice'],
  ['DD.MM.YYYY mm', 'has mm without HH'],
  ['DD.MM.YYYY HH:ss', 'has ss without mm'],
  ['DD.MM.YYYY HH', undefined],
  ['YYYY-MM-DDTHH:mm:ss', undefined],
])('the problem reported for the pattern %p is %p', (pattern, fault) => {
  expect(findPatternFault(pattern)).toBe(fault);
});
