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

test('a request is logged as one line of less than 300 bytes at level info, with the id of its token if it has one', () => {
  const token = '"tokenId":"01a1dd81-c704-7003-a42b-360429a87cf0",';
  const end = `"method":"GET","route":"/v1/retailers/","status":200,"durationMs":0.125,"address":"2001:db8::1"}\n`;
  const line = `{"level":30,${START},${token}${end}`;
  expect(line.length).toBeLessThan(300);
  expect(logged('info', EXCHANGE)).toEqual([line]);
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

test('a node logs the requests that --log-requests selects', async () => {
  await using node = await TestNode.start({ settings: { logRequests: 'errors' } });
  await node.get('/v1/retailers/', await node.token('public'));
  await node.get('/v1/retailers/');
  const lines = node.logLines.filter((line) => line.includes('"route":"/v1/retailers/"'));
  expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([401]);
});
