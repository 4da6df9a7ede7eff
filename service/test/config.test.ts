import { describe, expect, test } from 'bun:test';
import { readServeSettings, SERVE_FLAGS } from '../src/config.ts';

/** The variables that Kubernetes sets for a Service; see "Discovering services" in its documentation. */
function serviceVariables(name: string): Record<string, string> {
  return {
    [`${name}_SERVICE_HOST`]: '10.0.0.11',
    [`${name}_SERVICE_PORT`]: '8080',
    [`${name}_SERVICE_PORT_HTTP`]: '8080',
    [`${name}_PORT`]: 'tcp://10.0.0.11:8080',
    [`${name}_PORT_8080_TCP`]: 'tcp://10.0.0.11:8080',
    [`${name}_PORT_8080_TCP_PROTO`]: 'tcp',
    [`${name}_PORT_8080_TCP_PORT`]: '8080',
    [`${name}_PORT_8080_TCP_ADDR`]: '10.0.0.11',
    [`${name}_PORT_53_UDP`]: 'udp://10.0.0.11:53',
  };
}

test('--currency accepts three capital letters, or an empty value', () => {
  const read = (currency: string) => readServeSettings({ currency }, {}).currency;
  expect([read('EUR'), read('')]).toEqual(['EUR', undefined]);
  for (const invalid of ['eur', 'EURO', '€', ' EUR'])
    expect(() => read(invalid)).toThrow(
      `--currency must be a three-letter currency code, such as EUR, not "${invalid}"`,
    );
});

test('a flag takes precedence over its variable, and an error names the flag or variable that was used', () => {
  const read = (flags: Record<string, string>, variable: string) =>
    readServeSettings(flags, { OFFERBOOK_PAGE_SIZE: variable }).pageSize;
  expect([read({}, '7'), read({ pageSize: '8' }, '7'), read({ pageSize: '8' }, 'x')]).toEqual([7, 8, 8]);
  expect(() => read({}, '0')).toThrow('OFFERBOOK_PAGE_SIZE must be a whole number from 1 to 1000, not "0"');
  expect(() => read({ pageSize: '0' }, '7')).toThrow(
    '--page-size must be a whole number from 1 to 1000, not "0"',
  );
});

test('the error for an invalid --replica-url does not repeat the URL, which may contain a password', () => {
  expect(() => readServeSettings({ replicaUrl: 'mysql://me:pa55word@host/db' }, {})).toThrow(
    /^--replica-url must be a URL such as postgres:\/\/user@host\/name$/,
  );
});

test.each([
  [{ pageSize: '0' }, '--page-size must be a whole number from 1 to 1000, not "0"'],
  [{ port: '99999' }, '--port must be a whole number from 0 to 65535, not "99999"'],
  [
    { trustedProxies: '10.0.0.0/99' },
    '--trusted-proxies must list addresses or CIDR ranges such as 10.0.0.0/8; "10.0.0.0/99" is neither',
  ],
  // Pages and links do not support path prefixes.
  ...[
    'https://api.example/sub/',
    'https://api.example/?x',
    'https://api.example/#x',
    'ftp://api.example',
    'x',
  ].map(
    (publicUrl) =>
      [
        { publicUrl },
        `--public-url must be a URL without a path, such as https://api.example, not "${publicUrl}"`,
      ] as const,
  ),
])('rejects %o', (flags, message) => {
  expect(() => readServeSettings(flags, {})).toThrow(message);
});

test("a flag's help text shows its default and its environment variable", () => {
  const help = Object.fromEntries(SERVE_FLAGS.map((flag) => [flag.flag, flag.help]));
  expect(help['--port <number>']).toBe(
    'port to listen on; 0 = any free port (default: 8080, env: OFFERBOOK_PORT)',
  );
  expect(help['--admin-token-file <file>']).toEndWith(' (env: OFFERBOOK_ADMIN_TOKEN_FILE)');
});

describe('variables that Kubernetes sets for Services', () => {
  test.each(['OFFERBOOK', 'OFFERBOOK_ADMIN', 'OFFERBOOK_DB'])(
    'variables of a Service named %s are ignored',
    (name) => {
      expect(readServeSettings({}, serviceVariables(name))).toEqual(readServeSettings({}, {}));
    },
  );

  test('reads the other settings in the environment, and rejects misspelt variables', () => {
    const links = serviceVariables('OFFERBOOK');
    expect(readServeSettings({}, { ...links, OFFERBOOK_PAGE_SIZE: '7' }).pageSize).toBe(7);
    expect(readServeSettings({ port: '81' }, links).port).toBe(81);
    for (const [name, value] of [
      ['OFFERBOOK_PORTS', '8080'],
      ['OFFERBOOK_PORT_HTTP', '8080'],
      ['OFFERBOOK_SERVICE', 'x'],
      ['OFFERBOOK_DB_PORT', '5432'],
    ] as const) {
      expect(() => readServeSettings({}, { ...links, [name]: value })).toThrow(
        `${name} is not an Offerbook setting; see offerbook serve --help`,
      );
    }
    expect(() => readServeSettings({}, { OFFERBOOK_PORT: 'http://10.0.0.11' })).toThrow(
      'OFFERBOOK_PORT must be a whole number from 0 to 65535, not "http://10.0.0.11"',
    );
  });
});
