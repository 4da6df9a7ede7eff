import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseInstant, parseTimestamp, printTimestamp } from '../src/timestamp.ts';

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
