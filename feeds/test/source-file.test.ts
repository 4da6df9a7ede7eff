// Source files: the examples are valid, and an invalid file is rejected with all its mistakes.

import { describe, expect, test } from 'bun:test';
import { exampleSource } from '../src/source/example-source.ts';
import { NETWORK_NAMES, parseSource } from '../src/source/source-file.ts';
import { NAMESPACE } from './fixture.ts';

test.each(NETWORK_NAMES)('the example for %s is valid and does not need any other file', (network) => {
  const text = JSON.stringify(exampleSource(network, NAMESPACE), null, 2);
  const source = parseSource(text, 'source.json');
  expect(source).toMatchObject({ network, namespace: NAMESPACE, subId: 'uid' });
  expect(source.overlay).toBeUndefined();
});

function mistakes(source: unknown): string[] {
  try {
    parseSource(JSON.stringify(source), 'f.json');
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
}

const good = { network: 'awin', account: '1', namespace: NAMESPACE, share: { default: 1 }, subId: 'uid' };

test('reports every mistake in a source file with its path', () => {
  const bad = {
    network: 'awin',
    account: '',
    namespace: 'x',
    share: { default: 1.5, advertisers: { 17874: 'a lot' }, shares: {} },
    rounding: 'up',
    timeZone: 'Europe/Atlantis',
    country: 'de',
    overlay: 7,
    subId: 'user',
    currency: 'EUR',
  };
  expect(mistakes(bad)).toEqual([
    'f.json: account must not be empty',
    'f.json: namespace must be a UUID',
    'f.json: share.default must be between 0 and 1',
    'f.json: share.advertisers.17874 must be a number',
    'f.json: share.shares is an unknown field',
    'f.json: rounding must be one of half-even, half-up, down',
    'f.json: timeZone must be a time zone such as Europe/Berlin',
    'f.json: country must be a country code of two capital letters (ISO 3166-1 alpha-2)',
    'f.json: overlay must be a string',
    'f.json: subId must be one of uid, click, org-uid',
    'f.json: currency is an unknown field',
  ]);
});

describe('single mistakes', () => {
  test.each([
    [{}, 'network must be one of awin, impact, partnerize, cj, rakuten, table'],
    [{ ...good, network: 'webgains' }, 'network must be one of awin, impact, partnerize, cj, rakuten, table'],
    [[], 'the file must be a JSON object'],
    [null, 'the file must be a JSON object'],
    [{ ...good, share: undefined }, 'share is missing'],
    [{ ...good, subId: undefined }, 'subId is missing'],
    [{ ...good, subId: 'org-uid' }, 'separator is required when subId is org-uid'],
    [{ ...good, separator: '.' }, 'separator is only allowed when subId is org-uid'],
    [{ ...good, network: 'rakuten' }, 'country is missing'],
    [{ ...good, network: 'cj' }, 'currency is missing'],
    [
      { ...good, network: 'rakuten', country: 'US', confirmAfterDays: 0 },
      'confirmAfterDays must be at least 1',
    ],
    [
      { ...good, network: 'table', coupons: { fields: { id: 'a', retailerId: 'b', code: {} } } },
      'coupons.fields.code must have either a column or a constant',
    ],
    [
      { ...good, network: 'table', retailers: { fields: { id: 'a', name: 'b', url: 'c', size: 'd' } } },
      'retailers.fields.size is an unknown field',
    ],
    [
      {
        ...good,
        network: 'table',
        promotions: { fields: { id: 'a', retailerId: 'b', endDate: { column: 'c', date: 'D/M/Y' } } },
      },
      'promotions.fields.endDate.date must be a pattern of YYYY, MM, DD, HH, mm and ss, such as DD.MM.YYYY HH:mm',
    ],
    [
      {
        ...good,
        network: 'table',
        promotions: {
          fields: { id: 'a', retailerId: 'b', endDate: { column: 'c', date: 'DD.MM.YYYY HH:MM' } },
        },
      },
      'promotions.fields.endDate.date has MM twice: minutes are mm',
    ],
  ])('rejects %j', (source, mistake) => {
    expect(mistakes(source)).toEqual([`f.json: ${mistake}`]);
  });

  test('rejects a table that maps a word to an unknown status', () => {
    const status = { column: 'State', words: { open: 'PENDING', paid: 'PAID' } };
    const [id, advertiserId, soldAt, currency] = ['id', 'shop', 'date', 'currency'];
    const fields = { id, advertiserId, soldAt, currency, status, orderValue: 'v', commission: 'c' };
    expect(mistakes({ ...good, network: 'table', transactions: { fields } })).toEqual([
      'f.json: transactions.fields.status must map to PENDING, CONFIRMED, DECLINED',
    ]);
  });

  test('rejects a file that is not JSON', () => {
    expect(() => parseSource('{"network": "awin",}', 'f.json')).toThrow('f.json is not JSON');
  });
});
