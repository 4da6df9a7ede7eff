import { expect, test } from 'bun:test';
import { Logger, type LogLevel } from '../../src/domain/logger.ts';
import { type LoggedRequest, logRequest } from '../../src/http/request-log.ts';

const REQUEST: LoggedRequest = {
  requestId: 'abc',
  tokenId: '01a1dd81-c704-7003-a42b-360429a87cf0',
  method: 'GET',
  route: '/v1/retailers/',
  status: 200,
  durationMs: 0.125,
  address: '2001:db8::1',
};
const START = `"time":"2026-11-15T12:00:00.000Z","pid":${process.pid},"requestId":"abc"`;

function logged(level: LogLevel, request: LoggedRequest): string[] {
  const lines: string[] = [];
  const clock = () => Date.parse('2026-11-15T12:00:00Z');
  logRequest(new Logger(level, (line) => lines.push(line), clock), request);
  return lines;
}

test('a request is one line at info', () => {
  expect(logged('info', REQUEST)).toEqual([
    `{"level":30,${START},"tokenId":"01a1dd81-c704-7003-a42b-360429a87cf0","method":"GET","route":"/v1/retailers/","status":200,"durationMs":0.125,"address":"2001:db8::1"}\n`,
  ]);
});

test('that of a stranger has no token id', () => {
  expect(logged('info', { ...REQUEST, tokenId: undefined })).toEqual([
    `{"level":30,${START},"method":"GET","route":"/v1/retailers/","status":200,"durationMs":0.125,"address":"2001:db8::1"}\n`,
  ]);
});

test('a log that is to hold warnings only holds no requests', () => {
  expect(logged('warn', REQUEST)).toEqual([]);
});

test.each(['/livez', '/readyz'])(
  '%s, which load balancers ask for all the time, is logged at debug',
  (route) => {
    expect(logged('info', { ...REQUEST, route })).toEqual([]);
    expect(logged('debug', { ...REQUEST, route })).toEqual([expect.stringContaining(`{"level":20,${START}`)]);
  },
);
