import { expect, test } from 'bun:test';
import pino, { type Level } from 'pino';
import { requestLog } from '../../src/http/request-log.ts';

const REQUEST = {
  requestId: 'abc',
  tokenId: '01a1dd81-c704-7003-a42b-360429a87cf0',
  method: 'GET',
  route: '/v1/retailers/',
  status: 200,
  durationMs: 0.125,
  address: '2001:db8::1',
};

function logged(level: Level, write: (logger: pino.Logger) => void): string[] {
  const lines: string[] = [];
  const timestamp = () => ',"time":"2026-11-15T12:00:00.000Z"';
  write(pino({ level, base: { pid: 7 }, timestamp }, { write: (line) => void lines.push(line) }));
  return lines;
}

test.each([
  ['of a caller with a token', REQUEST],
  ['of a stranger', { ...REQUEST, tokenId: undefined }],
  ['with characters that JSON escapes', { ...REQUEST, method: 'A"\\\n\u2028é' }],
])('the line of a request %s is the one that pino would print', (_, request) => {
  const ours = logged('info', (logger) => requestLog(logger)(request));
  const pinos = logged('info', (logger) => logger.info(request));
  expect(ours).toEqual(pinos);
});

test('a log that is to hold warnings only holds no requests', () => {
  expect(logged('warn', (logger) => requestLog(logger)(REQUEST))).toEqual([]);
});

test.each(['/livez', '/readyz'])(
  '%s, which load balancers ask for all the time, is logged at debug',
  (route) => {
    const request = { ...REQUEST, tokenId: undefined, route };
    expect(logged('info', (logger) => requestLog(logger)(request))).toEqual([]);
    expect(logged('debug', (logger) => requestLog(logger)(request))).toEqual(
      logged('debug', (logger) => logger.debug(request)),
    );
  },
);
