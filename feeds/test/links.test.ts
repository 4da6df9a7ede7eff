// Links of each network's retailers, and the domains that networks report.

import { describe, expect, test } from 'bun:test';
import { awinFiles, cjFiles, impactFiles, partnerizeFiles, rakutenFiles } from './catalogues.ts';
import { convertShopLinks, errorOf, idOf, type Row, sourceFor } from './fixture.ts';

const LINK = 'https://network.example/c?m={advertiser}&s={click}&u={url}';
const template = (advertiser: string) => LINK.replace('{advertiser}', advertiser);

function programmes(...rows: readonly Row[]) {
  const common = { membershipStatus: 'joined', displayUrl: 'https://www.shop.example/', name: 'Shop' };
  return { programmes: JSON.stringify(rows.map((row) => ({ ...common, ...row }))) };
}

test('every joined Awin programme becomes a link, with the domains that Awin reports', async () => {
  const source = sourceFor('awin', { link: LINK });
  const validDomains = [
    { domain: 'www.shop.example' },
    { domain: 'SHOP.co.uk' },
    { domain: '*.bücher.example' },
    { domain: 'https://de.shop.test/path' },
    { domain: 'shop.co.uk' },
    { domain: 'co.uk' },
    { domain: 'not a domain' },
    {},
  ];
  const { rows, report } = await convertShopLinks(
    source,
    programmes({ id: 1, validDomains }, { id: 'a b' }, { id: 3, membershipStatus: 'notjoined' }),
  );
  const expected = [
    {
      retailerId: idOf('awin', 'retailer', '1'),
      template: template('1'),
      domains: ['de.shop.test', 'shop.co.uk', 'xn--bcher-kva.example'],
    },
    { retailerId: idOf('awin', 'retailer', 'a b'), template: template('a%20b'), domains: [] },
  ];
  expect(rows).toEqual(expected.sort((a, b) => (a.retailerId < b.retailerId ? -1 : 1)));
  expect([report.read, report.written, report.notes]).toEqual([
    3,
    2,
    [
      'Left out: programmes that you have not joined (1 row).',
      'Left out: domains that are public suffixes or not valid (2 rows).',
    ],
  ]);
});

test('the retailers of a table can have domains, separated by spaces or commas', async () => {
  const retailers = {
    separator: ';',
    fields: { id: 'Shop', name: 'Name', url: 'Website', domains: 'Sites' },
  };
  const { rows } = await convertShopLinks(sourceFor('table', { link: LINK, retailers }), {
    retailers:
      'Shop;Name;Website;Sites\n7;Seven;https://seven.example;seven.test, www.seven.co.uk\n8;Eight;https://eight.example;\n',
  });
  expect(rows.map((row) => [row.template, row.domains]).sort()).toEqual([
    [template('7'), ['seven.co.uk', 'seven.test']],
    [template('8'), []],
  ]);
});

test.each([
  ['awin', awinFiles],
  ['impact', impactFiles],
  ['partnerize', partnerizeFiles],
  ['cj', cjFiles],
  ['rakuten', rakutenFiles],
] as const)('the links of %s have the ids of its catalogue', async (network, files) => {
  const { rows } = await convertShopLinks(sourceFor(network, { link: LINK }), files);
  expect(rows.length).toBeGreaterThan(0);
  for (const { retailerId, template: written } of rows) {
    const advertiser = /m=([^&]*)/.exec(String(written))?.[1] ?? '';
    expect(retailerId).toBe(idOf(network, 'retailer', decodeURIComponent(advertiser)));
  }
});

describe('an invalid link in the source file', () => {
  test.each([
    ['https://network.example/?s={click}', 'must contain {advertiser}'],
    ['https://network.example/{advertiser}', 'must contain {click} exactly once, not 0 times'],
    [
      'http://network.example/{advertiser}/{click}',
      'must start with https://, a host without user information, and a path',
    ],
    [
      'https://network.example/{advertiser}/{click}?{other}',
      'must not contain braces except in {click} and {url}',
    ],
  ])('%s is rejected', async (link, reason) => {
    const error = await errorOf(Promise.resolve().then(() => sourceFor('awin', { link })));
    expect(error.message).toBe(`source.json: link ${reason}`);
  });
});
