import { expect, test } from 'bun:test';
import { BoundedLog } from '../../src/domain/bounded-log.ts';

test('a flood of events is logged as ten lines in ten seconds, and the next line contains the number of omitted events', () => {
  let nowMs = 0;
  const lines: unknown[] = [];
  const log = new BoundedLog(
    (fields) => lines.push(fields),
    () => nowMs,
  );
  for (let number = 1; number <= 25; number++) {
    nowMs += 100;
    log.note({ number });
  }
  expect(lines).toEqual(Array.from({ length: 10 }, (_, index) => ({ number: index + 1 })));
  // The window began with the first event, at 100 ms.
  nowMs = 10_099;
  log.note({ number: 26 });
  expect(lines).toHaveLength(10);
  nowMs = 10_100;
  for (const number of [27, 28]) log.note({ number });
  expect(lines.slice(10)).toEqual([{ number: 27, suppressed: 16 }, { number: 28 }]);
});
