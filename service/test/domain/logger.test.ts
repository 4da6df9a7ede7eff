import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { boundedLog, LOG_LEVELS, Logger, type LogLevel } from '../../src/domain/logger.ts';

const TIME = '2026-11-15T12:00:00.000Z';

function logged(level: LogLevel, write: (logger: Logger) => void): string[] {
  const lines: string[] = [];
  write(
    new Logger(
      level,
      (line) => lines.push(line),
      () => Date.parse(TIME),
    ),
  );
  return lines;
}

test('a log line contains level, time, process id, the fields in order, and the message', () => {
  const lines = logged('info', (logger) => {
    logger.info('draining');
    logger.info({ url: 'http://x' }, 'listening');
    logger.warn({ a: 1, b: undefined, c: null });
    logger.error({});
  });
  const start = `"time":"${TIME}","pid":${process.pid}`;
  expect(lines).toEqual([
    `{"level":30,${start},"msg":"draining"}\n`,
    `{"level":30,${start},"url":"http://x","msg":"listening"}\n`,
    `{"level":40,${start},"a":1,"c":null}\n`,
    `{"level":50,${start}}\n`,
  ]);
});

test.each(LOG_LEVELS)('a logger with level %s logs that level and higher ones', (level) => {
  const lines = logged(level, (logger) => {
    for (const each of ['debug', 'info', 'warn', 'error'] as const) logger[each](each);
  });
  const logged_ = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(logged_).toEqual(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)).filter((each) => each !== 'silent'));
});

test('the time of a log line comes from the injected clock', () => {
  let nowMs = 0;
  const lines: string[] = [];
  const logger = new Logger(
    'info',
    (line) => lines.push(line),
    () => nowMs,
  );
  for (const ms of [0, 0, 1, 1_000]) {
    nowMs = ms;
    logger.info('x');
  }
  const times = lines.map((line) => (JSON.parse(line) as { time: string }).time);
  expect(times).toEqual(['00.000', '00.000', '00.001', '01.000'].map((end) => `1970-01-01T00:00:${end}Z`));
});

test('any fields and message are logged on one line that can be parsed back', () => {
  const fields = fc.dictionary(
    fc
      .string()
      .filter((name) => !['level', 'time', 'pid', 'msg', 'err', '__proto__', 'toJSON'].includes(name)),
    fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null)),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fields, fc.string({ unit: 'binary' }), (given, message) => {
      const [line = '', ...others] = logged('info', (logger) => logger.info(given, message));
      expect(others).toEqual([]);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual({ level: 30, time: TIME, pid: process.pid, ...given, msg: message });
    }),
  );
});

describe('logging errors', () => {
  const err = (given: unknown) => {
    const [line = ''] = logged('info', (logger) => logger.error({ err: given }, 'broken'));
    return (JSON.parse(line) as { err: Record<string, unknown> }).err;
  };

  test('an error is logged with its type, message, code and stack', () => {
    class Broken extends TypeError {
      override readonly name = 'Broken';
      readonly code = 'E_BROKEN';
    }
    const { stack, ...rest } = err(new Broken('it broke'));
    expect(rest).toEqual({ type: 'Broken', message: 'it broke', code: 'E_BROKEN' });
    expect(stack).toContain('logger.test.ts');
  });

  test('an error is logged with the stacks of its causes', () => {
    const { stack } = err(new Error('outer', { cause: new Error('inner') }));
    expect(stack).toMatch(/^Error: outer\n[\s\S]*\ncaused by: Error: inner\n/);
  });

  test("an error is logged without other fields, because a driver's errors may contain tokens", () => {
    const secret = Object.assign(new Error('syntax error'), {
      query: 'SELECT',
      parameters: ['ob_prv_secret'],
    });
    expect(JSON.stringify(err(secret))).not.toContain('ob_prv_secret');
  });

  test('an error that is not an Error object is logged unchanged', () => {
    expect(err('a text')).toBe('a text' as never);
  });
});

test('a flood of events is logged as ten lines in ten seconds, and the next line contains the number of omitted events', () => {
  let nowMs = 0;
  const lines: unknown[] = [];
  const log = boundedLog(
    (fields) => lines.push(fields),
    () => nowMs,
  );
  for (let number = 1; number <= 25; number++) {
    nowMs += 100;
    log({ number });
  }
  expect(lines).toEqual(Array.from({ length: 10 }, (_, index) => ({ number: index + 1 })));
  // The window began with the first event, at 100 ms.
  nowMs = 10_099;
  log({ number: 26 });
  expect(lines).toHaveLength(10);
  nowMs = 10_100;
  for (const number of [27, 28]) log({ number });
  expect(lines.slice(10)).toEqual([{ number: 27, suppressed: 16 }, { number: 28 }]);
});
