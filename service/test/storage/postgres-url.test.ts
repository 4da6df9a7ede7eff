import { describe, expect, test } from 'bun:test';
import { parsePostgresUrl } from '../../src/storage/postgres/postgres-url.ts';
import { newPostgresDatabase, PASSWORD, sharedPostgres, USER } from '../support/postgres-server.ts';
import { openTestStores, rejection } from './open-test-stores.ts';

const REST = 'sslmode=disable&application_name=offerbook';

test("a question mark in a URL parameter's value is part of the value", () => {
  expect(parsePostgresUrl('postgres://u:p@h:1/n?application_name=a?b&sslmode=disable')).toEqual({
    servers: [
      {
        url: 'postgres://u:p@h:1/n?application_name=a%3Fb&sslmode=disable',
        socket: undefined,
        address: 'h:1',
      },
    ],
    tls: 'disable',
  });
});

test('each of several servers gets a complete URL of its own', () => {
  const { servers } = parsePostgresUrl('postgres://u:p@one:1,[::1]:2,three/n?sslmode=disable');
  expect(servers).toEqual(
    ['one:1', '[::1]:2', 'three'].map((address) => ({
      url: `postgres://u:p@${address}/n?${REST}`,
      socket: undefined,
      address,
    })),
  );
});

describe('a Unix socket', () => {
  test.each([
    ['postgres:///n?host=/run/postgresql', '/run/postgresql/.s.PGSQL.5432'],
    ['postgres://u:p@/n?host=/run/postgresql', '/run/postgresql/.s.PGSQL.5432'],
    ['postgres://u@/n?host=/run/postgresql&port=5433', '/run/postgresql/.s.PGSQL.5433'],
    ['postgres://u@:5433/n?host=/run/postgresql', '/run/postgresql/.s.PGSQL.5433'],
    ['postgres://u@:5433/n?host=/run/postgresql&port=5434', '/run/postgresql/.s.PGSQL.5434'],
    ['postgres://u@%2Frun%2fpostgresql:5433/n', '/run/postgresql/.s.PGSQL.5433'],
    ['postgres://u@elsewhere/n?host=/run/postgresql&sslmode=verify-full', '/run/postgresql/.s.PGSQL.5432'],
  ])('%s selects a Unix socket', (url, socket) => {
    const [, before = ''] = /^(.*?:\/\/(?:.*@)?)/.exec(url) ?? [];
    expect(parsePostgresUrl(url)).toEqual({
      servers: [{ url: `${before}localhost/n?${REST}`, socket, address: socket }],
      tls: 'disable',
    });
  });

  test.each([
    ['postgres://u@/n?host=db.example', /^the host and port parameters .* host must be a directory/],
    ['postgres://u@db.example/n?port=5433', /^the host and port parameters .* host must be a directory/],
    ['postgres://u@one,%2Frun/n', /^a Unix socket cannot be one of several servers/],
    ['postgres://u@one,two/n?host=/run', /^a Unix socket cannot be one of several servers/],
  ])('the URL %s is rejected', (url, message) => {
    expect(() => parsePostgresUrl(url)).toThrow(message);
  });

  const open = openTestStores();

  test("a connection through a Unix socket works, and an error names the socket's path", async () => {
    const { pathname } = new URL(await newPostgresDatabase());
    const { port } = await sharedPostgres();
    const url = `postgres://${USER}:${PASSWORD}@${pathname}?host=/tmp&port=${port}`;
    expect(
      await open.database(url).all('SELECT inet_client_addr() AS address, current_database() AS name'),
    ).toEqual([{ address: null, name: pathname.slice(1) }]);
    const error = await rejection(open.database(url.replace('/tmp', '/tmp/nowhere')).all('SELECT 1'));
    expect(error.message).toStartWith(`PostgreSQL at /tmp/nowhere/.s.PGSQL.${port} is unavailable`);
    expect(error.message).not.toContain(`:${PASSWORD}@`);
  });
});
