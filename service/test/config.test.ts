import { describe, expect, test } from 'bun:test';
import { readServeSettings } from '../src/config.ts';

/** What Kubernetes tells a container of a Service with this name; see "Discovering services" in its documentation. */
function serviceLinks(name: string): Record<string, string> {
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

test('--currency takes a code of three capital letters, or nothing', () => {
  const read = (currency: string) => readServeSettings({ currency }, {}).currency;
  expect([read('EUR'), read('')]).toEqual(['EUR', undefined]);
  for (const bad of ['eur', 'EURO', '€', ' EUR'])
    expect(() => read(bad)).toThrow(
      `--currency must be a currency code of three capital letters, such as EUR, not "${bad}"`,
    );
});

describe('the variables of Kubernetes', () => {
  test.each(['OFFERBOOK', 'OFFERBOOK_ADMIN', 'OFFERBOOK_DB'])('of a Service are no settings: %s', (name) => {
    expect(readServeSettings({}, serviceLinks(name))).toEqual(readServeSettings({}, {}));
  });

  test('do not hide settings, nor what is mistyped', () => {
    const links = serviceLinks('OFFERBOOK');
    expect(readServeSettings({}, { ...links, OFFERBOOK_PAGE_SIZE: '7' }).pageSize).toBe(7);
    expect(readServeSettings({ port: '81' }, links).port).toBe(81);
    for (const [name, value] of [
      ['OFFERBOOK_PORTS', '8080'],
      ['OFFERBOOK_PORT_HTTP', '8080'],
      ['OFFERBOOK_SERVICE', 'x'],
      ['OFFERBOOK_DB_PORT', '5432'],
    ] as const) {
      expect(() => readServeSettings({}, { ...links, [name]: value })).toThrow(
        `${name} is not a setting of Offerbook; see offerbook serve --help`,
      );
    }
    expect(() => readServeSettings({}, { OFFERBOOK_PORT: 'http://10.0.0.11' })).toThrow(
      'OFFERBOOK_PORT must be a whole number from 0 to 65535, not "http://10.0.0.11"',
    );
  });
});
