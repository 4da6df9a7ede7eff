import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../src/domain/storage-error.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { newCertificate } from '../support/new-certificate.ts';
import {
  newPostgresDatabase,
  type PostgresServer,
  postgresUrl,
  startPostgres,
} from '../support/postgres-server.ts';
import { lacks } from '../support/programs.ts';
import { openTestStores, rejection } from './open-test-stores.ts';

const open = openTestStores();

describe.skipIf(lacks('openssl'))('sslmode in a PostgreSQL URL', () => {
  let server: PostgresServer;
  let ca: string;

  beforeAll(async () => {
    server = await startPostgres(['-c', 'fsync=off']);
    ca = await switchOnTls(server);
  });

  afterAll(async () => {
    await server.process.stop();
    rmSync(server.directory, { recursive: true, force: true });
  });

  /** True if a connection to this URL is encrypted. */
  async function encrypted(query: string, host = '127.0.0.1'): Promise<boolean | undefined> {
    const url = postgresUrl(server.port, 'postgres').replace('127.0.0.1', host);
    const [row] = await open
      .database(`${url}${query}`)
      .all<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return row?.ssl;
  }

  const IP = '127.0.0.1';

  test.each<[query: string, host: string, expected: boolean | 'untrusted']>([
    ['?sslmode=disable', IP, false],
    ['', IP, true],
    ['?sslmode=prefer', IP, true],
    ['?sslmode=require', IP, true],
    // verify-full compares the host name, verify-ca and require with a root certificate do not.
    ['?sslmode=verify-full&sslrootcert=OWN', 'localhost', true],
    ['?application_name=x&sslmode=verify-full&sslrootcert=OWN', 'localhost', true],
    ['?sslmode=verify-full&sslrootcert=OWN', IP, 'untrusted'],
    ['?sslmode=verify-ca&sslrootcert=OWN', IP, true],
    ['?sslmode=require&sslrootcert=OWN', IP, true],
    // A certificate from an unknown authority, and from another authority than the given one.
    ['?sslmode=verify-ca', 'localhost', 'untrusted'],
    ['?sslmode=verify-full', 'localhost', 'untrusted'],
    ['?sslmode=require&sslrootcert=OTHER', 'localhost', 'untrusted'],
    ['?sslmode=verify-ca&sslrootcert=OTHER', 'localhost', 'untrusted'],
    ['?sslmode=verify-full&sslrootcert=OTHER', 'localhost', 'untrusted'],
  ])('TLS with the URL parameters %p and the host %s: %p', async (template, host, expected) => {
    const { certificate: other } = await newCertificate(server.directory, 'other');
    const query = template.replace('OWN', ca).replace('OTHER', other);
    if (expected !== 'untrusted') return expect(await encrypted(query, host)).toBe(expected);
    const error = await rejection(encrypted(query, host));
    expect(error).toMatchObject({ kind: 'settings' });
    expect(error.message).toStartWith("PostgreSQL's certificate is not trusted: ");
  });

  test('sslrootcert=system implies verify-full and is rejected with any other mode', async () => {
    for (const mode of ['disable', 'allow', 'prefer', 'require', 'verify-ca']) {
      expect(await rejection(encrypted(`?sslrootcert=system&sslmode=${mode}`, 'localhost'))).toEqual(
        settingsError('sslrootcert=system in the database URL requires sslmode=verify-full'),
      );
    }
    for (const query of ['', '&sslmode=verify-full']) {
      const error = await rejection(encrypted(`?sslrootcert=system${query}`, 'localhost'));
      expect(error.message).toStartWith("PostgreSQL's certificate is not trusted: ");
    }
  });

  test('the client certificate is sent to the server', async () => {
    const own = `sslcert=${join(server.directory, 'server.crt')}&sslkey=${join(server.directory, 'server.key')}`;
    const url = postgresUrl(server.port, 'postgres');
    const [row] = await open
      .database(`${url}?sslmode=require&${own}`)
      .all('SELECT client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    expect(row).toEqual({ client_dn: '/CN=localhost' });
  });

  test("with several servers, each certificate must match its own host's name", async () => {
    const query = `?sslmode=verify-full&sslrootcert=${ca}`;
    expect(await encrypted(query, `localhost:${server.port},localhost`)).toBe(true);
    expect(await rejection(encrypted(query, `localhost:${server.port},127.0.0.1`))).toEqual(
      settingsError(
        'with sslmode=verify-full and several servers, the database URL must have host names, not IP addresses',
      ),
    );
  });

  test('a server without TLS is rejected if sslmode requires TLS', async () => {
    const plain = await newPostgresDatabase();
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect(await rejection(openStores(`${plain}?sslmode=${mode}`))).toMatchObject({
        kind: 'unavailable',
        message: 'PostgreSQL does not support TLS, which the sslmode in the database URL requires',
      });
    }
    await open.stores(`${plain}?sslmode=prefer`);
  });

  test('an unknown sslmode and a missing certificate file are each rejected with a one-sentence message', async () => {
    const modes = await rejection(openStores('postgres://user:hunter2@127.0.0.1/name?sslmode=on'));
    expect(modes).toEqual(
      settingsError(
        'the database URL has an unknown sslmode; supported modes: disable, allow, prefer, require, verify-ca, verify-full',
      ),
    );
    const file = await rejection(
      openStores('postgres://user:hunter2@127.0.0.1/name?sslmode=verify-full&sslrootcert=/nowhere.pem'),
    );
    expect(file).toMatchObject({
      kind: 'settings',
      message: 'the sslrootcert file named in the database URL cannot be read',
    });
  });
});

describe('other parameters of a PostgreSQL URL', () => {
  test('parameters that hosted services add and that have no effect here are ignored', async () => {
    const names = 'connect_timeout gssencmode keepalives_idle sslnegotiation target_session_attrs'.split(' ');
    const query = names.map((name) => `${name}=require`).join('&');
    await open.stores(`${await newPostgresDatabase()}?sslmode=prefer&${query}`);
  });

  test('channel_binding=require rejects a server that does not support channel binding', async () => {
    const error = await rejection(openStores(`${await newPostgresDatabase()}?channel_binding=require`));
    expect(error).toMatchObject({ kind: 'settings' });
    expect(error.message).toStartWith("PostgreSQL's authentication method is not supported: ");
  });

  test('server parameters in the URL are sent to the server', async () => {
    const query = 'application_name=mine&search_path=public&options=-c%20work_mem%3D5MB%20-c%20geqo%3Doff';
    const [row] = await open.database(`${await newPostgresDatabase()}?${query}`).all(
      `SELECT current_setting('application_name') AS name, current_setting('search_path') AS path,
                current_setting('work_mem') AS memory, current_setting('geqo') AS geqo`,
    );
    expect(row).toEqual({ name: 'mine', path: 'public', memory: '5MB', geqo: 'off' });
  });

  test.each([
    'foo=bar',
    'statement_timeout=0',
    'sslmode=prefer&Channel_Binding=require',
    '=x',
    'require_auth=none',
  ])(
    'any other parameter is rejected with a one-sentence message that does not contain its value: %s',
    async (query) => {
      for (const host of ['127.0.0.1', 'one,two']) {
        const error = await rejection(openStores(`postgres://user:hunter2@${host}/name?${query}`));
        expect(error).toEqual(
          settingsError(
            'the database URL has an unknown parameter; supported parameters: sslmode, sslrootcert, sslcert, sslkey, host, port, channel_binding, application_name, search_path, options',
          ),
        );
      }
    },
  );
});

function settingsError(message: string): StorageError {
  return new StorageError('settings', message);
}

/** Gives the server a self-signed certificate, and returns the path of the certificate. */
async function switchOnTls(server: PostgresServer): Promise<string> {
  const { certificate, key } = await newCertificate(server.directory, 'server');
  // PostgreSQL accepts only a key that its own user owns and no other user can read.
  const { uid, gid } = statSync(join(server.directory, 'data'));
  chownSync(key, uid, gid);
  chmodSync(key, 0o600);
  chmodSync(certificate, 0o644);
  const admin = server.process.getPgClient();
  await admin.connect();
  await admin.query(`ALTER SYSTEM SET ssl_cert_file = '${certificate}'`);
  await admin.query(`ALTER SYSTEM SET ssl_key_file = '${key}'`);
  await admin.query(`ALTER SYSTEM SET ssl_ca_file = '${certificate}'`);
  await admin.query('ALTER SYSTEM SET ssl = on');
  await admin.query('SELECT pg_reload_conf()');
  await admin.end();
  return certificate;
}
