import { expect, test } from 'bun:test';
import type { AccessToken } from '../../src/domain/access-token.ts';
import { Logger, type LogLevel } from '../../src/domain/logger.ts';
import { type Exchange, openExchange } from '../../src/http/exchange.ts';
import { type LoggedRequests, logRequest } from '../../src/http/request-log.ts';
import { TestNode } from '../support/test-node.ts';

const EXCHANGE: Exchange = {
  ...openExchange(new Request('http://localhost/v1/retailers/', { headers: { 'Request-Id': 'abc' } }), {
    address: '2001:db8::1',
  }),
  route: '/v1/retailers/',
  token: { id: '01a1dd81-c704-7003-a42b-360429a87cf0' } as AccessToken,
};
const START = `"time":"2026-11-15T12:00:00.000Z","pid":${process.pid},"requestId":"abc"`;

function logged(level: LogLevel, exchange: Exchange, which: LoggedRequests = 'all', status = 200): string[] {
  const lines: string[] = [];
  const clock = () => Date.parse('2026-11-15T12:00:00Z');
  logRequest(new Logger(level, (line) => lines.push(line), clock), exchange, status, 0.1251, which);
  return lines;
}

test('a request is logged as one line at level info, with the id of its token if it has one', () => {
  const token = '"tokenId":"01a1dd81-c704-7003-a42b-360429a87cf0",';
  const end = `"method":"GET","route":"/v1/retailers/","status":200,"durationMs":0.125,"address":"2001:db8::1"}\n`;
  expect(logged('info', EXCHANGE)).toEqual([`{"level":30,${START},${token}${end}`]);
  expect(logged('info', { ...EXCHANGE, token: undefined })).toEqual([`{"level":30,${START},${end}`]);
  expect(logged('warn', EXCHANGE)).toEqual([]);
});

test.each(['/livez', '/readyz'])('%s, which load balancers poll, is logged at level debug', (route) => {
  expect(logged('info', { ...EXCHANGE, route })).toEqual([]);
  expect(logged('debug', { ...EXCHANGE, route })).toEqual([expect.stringContaining(`{"level":20,${START}`)]);
});

test.each<[LoggedRequests, number[]]>([
  ['all', [200, 304, 400, 401, 503]],
  ['errors', [400, 401, 503]],
  ['none', []],
])('with --log-requests %s, responses with these statuses are logged: %j', (which, expected) => {
  const statuses = [200, 304, 400, 401, 503];
  expect(statuses.filter((status) => logged('debug', EXCHANGE, which, status).length > 0)).toEqual(expected);
});

test('a logged request takes less than 300 bytes, and --log-requests errors logs only failed requests', async () => {
  const linesFor = async (logRequests: LoggedRequests) => {
    await using node = await TestNode.start({ settings: { logRequests } });
    const token = await node.token('public');
    for (let i = 0; i < 20; i += 1) await node.get('/v1/retailers/', token);
    for (let i = 0; i < 5; i += 1) await node.get('/v1/retailers/');
    return node.logLines.filter((line) => line.includes('"route":"/v1/retailers/"'));
  };
  const all = await linesFor('all');
  expect(all.length).toBe(25);
  expect(Math.max(...all.map((line) => line.length))).toBeLessThan(300);
  const errors = await linesFor('errors');
  expect(errors.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([
    401, 401, 401, 401, 401,
  ]);
});
