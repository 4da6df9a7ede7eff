// Catalogues of each network: complete results, data from the overlay, and rows that are rejected or left out.

import { describe, expect, test } from 'bun:test';
import { parseOverlay } from '../src/source/overlay.ts';
import type { NetworkName } from '../src/source/source-file.ts';
import {
  awinFiles,
  awinShop,
  cjFiles,
  convertCatalogueOf,
  impactFiles,
  partnerizeFiles,
  rakutenFiles,
} from './catalogues.ts';
import { convertShops, errorOf, idOf, impactPage, type Row, sourceFor } from './fixture.ts';

const LOGO = 'https://logos.example/greenthumb.svg';
const NO_END = { startDate: '1970-01-01T00:00:00', endDate: '9999-12-31T23:59:59' };

const GREENTHUMB = {
  name: 'Greenthumb',
  hostname: 'www.greenthumb.example',
  url: 'https://www.greenthumb.example/',
  logo: LOGO,
  coupons: [],
  promotions: [],
};
const SELO = { ...GREENTHUMB, name: 'Selo', hostname: 'selo.example', url: 'https://selo.example/' };

/** Sorted by id, like the output. */
function byId<Item extends { id: unknown }>(...items: Item[]): Item[] {
  return items.sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
}

function offer(id: string, changes: Row) {
  return {
    id,
    featured: false,
    cashbackPercentage: 0,
    maximumFixedCommissionFee: null,
    description: '',
    category: '',
    termsAndExclusions: '',
    ...changes,
  };
}

test('Awin: programmes, commission groups and offers become a catalogue', async () => {
  const { rows, report } = await awinShop();
  const ours = (kind: string, id: string) => idOf('awin', kind, id);
  expect(rows).toEqual(
    byId<Row & { id: string }>(
      {
        ...GREENTHUMB,
        id: ours('retailer', '17874'),
        name: 'Greenthumb DE',
        cashbackOffers: byId(
          offer(ours('offer', '297335'), {
            countries: ['DE'],
            cashbackPercentage: 0.02625,
            description: 'Default',
          }),
          offer(ours('offer', '297336'), {
            countries: ['DE'],
            maximumFixedCommissionFee: 3.62,
            description: 'New customers',
            termsAndExclusions: 'customer is new, returning',
          }),
        ),
        coupons: [
          {
            code: 'SPRING10',
            id: ours('coupon', '2651268'),
            description: '10% off bulbs: On all bulbs',
            startDate: '2026-11-01T08:00:00',
            endDate: '2026-12-01T08:00:00',
          },
        ],
        promotions: [
          {
            id: ours('promotion', '2651269'),
            description: 'Free delivery',
            startDate: '2026-11-01T08:00:00',
            endDate: '2026-12-02T00:00:00',
            deepLink: 'https://www.greenthumb.example/delivery',
          },
        ],
      },
      {
        ...SELO,
        id: ours('retailer', '20001'),
        name: 'Selo Brasil',
        url: 'https://selo.example',
        logo: 'https://logos.example/selo.svg',
        cashbackOffers: [
          offer(ours('offer', '300001'), {
            featured: true,
            countries: ['BR'],
            cashbackPercentage: 0.02,
            description: 'Padrão',
            category: 'Stamps',
          }),
        ],
      },
    ),
  );
  expect([report.read, report.written, report.notes]).toEqual([
    7,
    2,
    ['Left out: programmes that you have not joined (1 row).'],
  ]);
});

test('Awin: reads the CSV export of offers with times in UTC and day-first dates', async () => {
  const header =
    'Promotion ID,Advertiser,Advertiser ID,Type,Code,Description,Starts,Ends,Categories,Regions,Terms,Deeplink Tracking,Deeplink,Commission Groups,Commission,Exclusive,Date Added,Title,Campaign';
  const cells =
    '2651268,Greenthumb DE,17874,Voucher,SPRING10,"On all ""bulbs"", and more",01/11/2026 08:00:00,12/12/2026 23:59:59,,DE,,https://www.awin1.com/x,https://www.greenthumb.example/bulbs,,5%,No,30/10/2026 08:00:00,10% off,';
  const { rows } = await awinShop({ ...awinFiles, offers: `${header}\n${cells}\n` });
  const greenthumb = rows.find((row) => row.name === 'Greenthumb DE');
  expect([greenthumb?.coupons, greenthumb?.promotions]).toEqual([
    [
      {
        code: 'SPRING10',
        id: idOf('awin', 'coupon', '2651268'),
        description: '10% off: On all "bulbs", and more',
        startDate: '2026-11-01T08:00:00',
        endDate: '2026-12-12T23:59:59',
      },
    ],
    [],
  ]);
});

test('impact.com: campaigns, contracts, promo codes and deals become a catalogue', async () => {
  const { rows, report } = await convertCatalogueOf('impact', impactFiles);
  const ours = (kind: string, id: string) => idOf('impact', kind, id);
  const terms = { termsAndExclusions: 'Not on gift cards & stamps.\nx', countries: ['ZA', 'GB'] };
  expect(rows).toEqual([
    {
      ...GREENTHUMB,
      id: ours('retailer', '10306'),
      url: 'https://www.greenthumb.example',
      cashbackOffers: byId(
        offer(ours('offer', '2240'), { ...terms, cashbackPercentage: 0.025, description: 'Online Sale' }),
        offer(ours('offer', '2241'), {
          ...terms,
          maximumFixedCommissionFee: 6.25,
          description: 'Subscription',
        }),
      ),
      coupons: byId(
        {
          code: 'HAZEL10',
          id: ours('coupon', '8111554'),
          description: 'Summer promotion',
          startDate: '2026-01-01T08:00:00',
          endDate: '9999-12-31T23:59:59',
        },
        { code: 'MYSTERY', id: ours('coupon', 'deal 92813'), description: 'Mystery', ...NO_END },
      ),
      promotions: [
        {
          id: ours('promotion', 'deal 92812'),
          description: 'Free shipping: On everything',
          ...NO_END,
          deepLink: 'https://www.greenthumb.example',
        },
      ],
    },
  ]);
  expect(report.notes.toSorted()).toEqual([
    'Left out: codes that are regular expressions (1 row).',
    'Left out: deals and codes that have expired (1 row).',
    'Left out: payouts for events other than purchases (1 row).',
  ]);
});

test("impact.com: a deal's default code and the same promo code in the same period become one coupon", async () => {
  const deals = impactPage('Deals', [
    { Id: '1', Name: 'Summer', CampaignId: '10306', State: 'ACTIVE', DefaultPromoCode: 'HAZEL10' },
    { Id: '2', Name: 'Other', CampaignId: '10306', State: 'ACTIVE', DefaultPromoCode: 'hazel10' },
    {
      Id: '3',
      Name: 'Ends when the promo code starts',
      CampaignId: '10306',
      State: 'ACTIVE',
      DefaultPromoCode: 'HAZEL10',
      EndDate: '2026-01-01T00:00:00-08:00',
    },
  ]);
  const { rows } = await convertCatalogueOf('impact', { ...impactFiles, deals });
  const coupons = rows.flatMap((row) => row.coupons as Row[]);
  expect(coupons.map(({ code, id }) => [code, id]).sort()).toEqual(
    [
      ['HAZEL10', idOf('impact', 'coupon', '8111554')],
      ['HAZEL10', idOf('impact', 'coupon', 'deal 3')],
      ['hazel10', idOf('impact', 'coupon', 'deal 2')],
    ].sort(),
  );
});

test('Partnerize: campaigns get their active commissions, or the default rate if they have none', async () => {
  const { rows } = await convertCatalogueOf('partnerize', partnerizeFiles, { country: 'GB' });
  const ours = (kind: string, id: string) => idOf('partnerize', kind, id);
  const garden = {
    countries: ['GB'],
    category: 'Garden',
    termsAndExclusions: 'Not on gift cards',
    description: 'Bulbs',
  };
  expect(rows).toEqual(
    byId<Row & { id: string }>(
      {
        ...GREENTHUMB,
        id: ours('retailer', '111111l29'),
        cashbackOffers: byId(
          offer(ours('offer', '7:111111l92'), { ...garden, cashbackPercentage: 0.04 }),
          offer(ours('offer', '7:111111l93'), { ...garden, maximumFixedCommissionFee: 0.62 }),
        ),
        coupons: [
          {
            code: 'SPRING10',
            id: ours('coupon', '111111l1000015'),
            description: '10% off',
            startDate: '2026-11-01T15:00:00',
            endDate: '2026-12-01T15:00:00',
          },
        ],
      },
      {
        ...SELO,
        id: ours('retailer', '111111l30'),
        cashbackOffers: [
          offer(ours('offer', 'default:111111l30'), { countries: ['GB'], maximumFixedCommissionFee: 1.75 }),
        ],
      },
    ),
  );
});

test.each([
  ['0', '5.00', { cashbackPercentage: 0, maximumFixedCommissionFee: 2.5 }],
  ['4', '0', { cashbackPercentage: 0.02, maximumFixedCommissionFee: null }],
  ['4', '5.00', { cashbackPercentage: 0.02, maximumFixedCommissionFee: null }],
  ['0', '0.00', { cashbackPercentage: 0, maximumFixedCommissionFee: null }],
])(
  'Partnerize: a default rate of %s and a default amount of %s become one cashback offer',
  async (rate, value, expected) => {
    const campaign = {
      campaign_id: '1',
      title: 'Selo',
      destination_url: 'https://selo.example/',
      campaign_logo: LOGO,
      default_commission_rate: rate,
      default_commission_value: value,
      default_currency: 'GBP',
    };
    const campaigns = JSON.stringify({ campaigns: [{ campaign }] });
    const { rows } = await convertCatalogueOf('partnerize', { campaigns }, { country: 'GB' });
    expect(rows[0]?.cashbackOffers).toEqual([expect.objectContaining(expected)]);
  },
);

test('Partnerize: vouchers without a campaign id belong to the campaign given on the command line', async () => {
  const vouchers = partnerizeFiles.vouchers.replace('"campaign_id":"111111l29",', '');
  const files = { campaigns: partnerizeFiles.campaigns, 'vouchers=111111l30': vouchers };
  const { rows } = await convertCatalogueOf('partnerize', files, { country: 'GB' });
  expect(rows.flatMap(({ name, coupons }) => (coupons as Row[]).map(({ code }) => [name, code]))).toEqual([
    ['Selo', 'SPRING10'],
  ]);
});

test('CJ: advertisers and links in XML become a catalogue', async () => {
  const { rows, report } = await convertCatalogueOf('cj', cjFiles);
  const ours = (kind: string, id: string) => idOf('cj', kind, id);
  const garden = { countries: ['US', 'CA'], category: 'Garden' };
  expect(rows).toEqual([
    {
      ...GREENTHUMB,
      id: ours('retailer', '1234567'),
      name: 'Greenthumb & Daughters',
      url: 'https://www.greenthumb.example',
      cashbackOffers: byId(
        offer(ours('offer', '1234567:380:37514'), {
          ...garden,
          cashbackPercentage: 0.04,
          description: 'Purchase: Bulbs',
        }),
        offer(ours('offer', '1234567:380:37515'), {
          ...garden,
          maximumFixedCommissionFee: 2.5,
          description: 'Purchase: Tools',
        }),
        offer(ours('offer', '1234567:380:default'), {
          ...garden,
          cashbackPercentage: 0.025,
          description: 'Purchase',
        }),
      ),
      coupons: [
        {
          code: 'SPRING10',
          id: ours('coupon', '13000001'),
          description: '10% off bulbs',
          startDate: '2026-11-01T00:00:00',
          endDate: '2026-12-01T23:59:00',
        },
      ],
      promotions: [
        {
          id: ours('promotion', '13000002'),
          description: 'Ships free: Free shipping',
          ...NO_END,
          deepLink: 'https://www.greenthumb.example/ships',
        },
      ],
    },
  ]);
  expect(report.notes).toEqual(['Left out: links without a promotion (1 row).']);
});

test('Rakuten: partner advertisers, offers and coupons in XML become a catalogue', async () => {
  const { rows } = await convertCatalogueOf('rakuten', rakutenFiles);
  const ours = (kind: string, id: string) => idOf('rakuten', kind, id);
  expect(rows).toEqual([
    {
      ...GREENTHUMB,
      id: ours('retailer', '3358'),
      cashbackOffers: [
        offer(ours('offer', '185078'), {
          countries: ['US'],
          cashbackPercentage: 0.0525,
          description: 'Autumn: Base',
          termsAndExclusions: 'Bulbs: https://terms.example/1',
        }),
      ],
      coupons: [
        {
          code: 'SPRING10',
          id: ours('coupon', '3358:SPRING10:2026-11-01:10% off bulbs'),
          description: '10% off bulbs: Not on gift cards',
          startDate: '2026-11-01T00:00:00',
          endDate: '2026-12-02T00:00:00',
        },
      ],
      promotions: [
        {
          id: ours('promotion', '3358::2026-11-01:Free delivery'),
          description: 'Free delivery',
          startDate: '2026-11-01T00:00:00',
          endDate: '9999-12-31T23:59:59',
          deepLink: 'https://www.greenthumb.example/delivery',
        },
      ],
    },
  ]);
});

test('a table: percentage and fixed rates, whole-day end dates and country lists in CSV become a catalogue', async () => {
  const source = sourceFor('table', {
    timeZone: 'Europe/Berlin',
    retailers: { fields: { id: 'shop', name: 'name', url: 'url', logo: 'logo' } },
    offers: {
      fields: {
        id: 'id',
        retailerId: 'shop',
        rate: { column: 'percent', percent: true },
        fixed: 'fixed',
        currency: { constant: 'EUR' },
        countries: 'countries',
      },
    },
    coupons: { fields: { id: 'id', retailerId: 'shop', code: 'code', startDate: 'from', endDate: 'until' } },
    promotions: { fields: { id: 'id', retailerId: 'shop', description: 'text', deepLink: 'link' } },
  });
  const { rows } = await convertShops(source, {
    retailers: `shop,name,url,logo\ng,Greenthumb,https://www.greenthumb.example/,${LOGO}\n`,
    offers: 'id,shop,percent,fixed,countries\n1,g,5,,"DE, AT"\n2,g,,7.25,DE\n',
    coupons: 'id,shop,code,from,until\n1,g,SPRING10,2026-11-01,2026-11-30\n',
    promotions: 'id,shop,text,link\n1,g,Free delivery,\n',
  });
  const ours = (kind: string, id: string) => idOf('table', kind, id);
  expect(rows).toEqual([
    {
      ...GREENTHUMB,
      id: ours('retailer', 'g'),
      cashbackOffers: byId(
        offer(ours('offer', '1'), { countries: ['DE', 'AT'], cashbackPercentage: 0.025 }),
        offer(ours('offer', '2'), { countries: ['DE'], maximumFixedCommissionFee: 3.62 }),
      ),
      coupons: [
        {
          code: 'SPRING10',
          id: ours('coupon', '1'),
          description: '',
          startDate: '2026-10-31T23:00:00',
          endDate: '2026-11-30T23:00:00',
        },
      ],
      promotions: [
        {
          id: ours('promotion', '1'),
          description: 'Free delivery',
          ...NO_END,
          deepLink: 'https://www.greenthumb.example/',
        },
      ],
    },
  ]);
});

test.each([
  ['no partnerships', []],
  ['no active partnership', [{ advertiser: { id: 3358 }, status: 'inactive' }]],
])('Rakuten: an advertiser with %s is not published', async (_which, list) => {
  const partnerships = JSON.stringify({ partnerships: list });
  const { rows } = await convertCatalogueOf('rakuten', { ...rakutenFiles, partnerships });
  expect(rows).toEqual([]);
});

describe('catalogue data that the network does not provide', () => {
  test('a retailer without a logo in the network files or the overlay is rejected with its advertiser id', async () => {
    const error = await errorOf(convertShops(sourceFor('cj', { country: 'US' }), cjFiles));
    expect(error.message).toBe(
      [
        'advertisers, line 2 (item 1), id 1234567: logo is missing from both the network and the overlay',
        'Nothing was converted: 1 of 4 rows is invalid.',
      ].join('\n'),
    );
  });

  test('an offer without countries in the network files, the overlay or the source file is rejected', async () => {
    const overlay = new Map([['1234567', { logo: LOGO }]]);
    const error = await errorOf(convertShops(sourceFor('cj'), cjFiles, { overlay }));
    expect(error.message).toContain(
      'advertisers, line 2 (item 1), id 1234567:380:37514: countries is missing from both',
    );
  });

  test("the overlay's countries and categories override the network's", async () => {
    const overlay = new Map([['3358', { logo: LOGO, countries: ['IE'], category: 'Bulbs' }]]);
    const ofRakuten = await convertShops(sourceFor('rakuten'), rakutenFiles, { overlay });
    const offers = (rows: readonly Row[]) =>
      rows.flatMap((row) => (row.cashbackOffers as Row[]).map((it) => [it.countries, it.category]));
    expect(offers(ofRakuten.rows)).toEqual([[['IE'], 'Bulbs']]);
    const table = sourceFor('table', {
      retailers: { fields: { id: 'id', name: 'name', url: 'url', logo: 'logo', countries: 'countries' } },
      offers: {
        fields: { id: 'id', retailerId: 'shop', rate: 'rate', category: 'category', countries: 'countries' },
      },
    });
    const files = {
      retailers: `id,name,url,logo,countries\ng,Greenthumb,https://g.example/,${LOGO},AT\n`,
      offers: 'id,shop,rate,category,countries\n1,g,0.1,Garden,DE\n2,g,0.1,,\n',
    };
    const told = await convertShops(table, files);
    expect(offers(told.rows).sort()).toEqual([
      [['AT'], ''],
      [['DE'], 'Garden'],
    ]);
    const ours = new Map([['g', { countries: ['IE'], category: 'Bulbs' }]]);
    expect(offers((await convertShops(table, files, { overlay: ours })).rows)).toEqual([
      [['IE'], 'Bulbs'],
      [['IE'], 'Bulbs'],
    ]);
  });

  test("a group share takes precedence over the overlay's share", async () => {
    const source = sourceFor('cj', { country: 'US', share: { default: 0.5, groups: { 380: 0.1 } } });
    const share = async (overlay: Map<string, Row>, of = source) => {
      const { rows } = await convertShops(of, { advertisers: cjFiles.advertisers }, { overlay });
      return rows.flatMap((row) => (row.cashbackOffers as Row[]).map((it) => it.cashbackPercentage)).sort();
    };
    expect(await share(new Map([['1234567', { logo: LOGO, share: 0.25 }]]))).toEqual([0, 0.005, 0.008]);
    const plain = sourceFor('cj', { country: 'US' });
    expect(await share(new Map([['1234567', { logo: LOGO, share: 0.25 }]]), plain)).toEqual([
      0, 0.0125, 0.02,
    ]);
  });
});

describe('invalid and incomplete catalogue files', () => {
  const bad = awinFiles.offers.replace('2026-12-01T08:00:00+00:00', '2026-10-01T08:00:00+00:00');

  test('a coupon that ends before it starts is rejected with its line, or left out of its retailer with skipInvalid', async () => {
    const error = await errorOf(awinShop({ ...awinFiles, offers: bad }));
    expect(error.message).toBe(
      [
        'offers, line 1 (item 1), id 2651268: endDate must be after startDate',
        'Nothing was converted: 1 of 7 rows is invalid.',
      ].join('\n'),
    );
    const { rows, report } = await awinShop({ ...awinFiles, offers: bad }, { skipInvalid: true });
    expect([rows.length, rows.flatMap((row) => row.coupons as Row[]), report.invalid]).toEqual([2, [], 1]);
    expect(report.notes).toContain(
      'An import withdraws everything that is missing from this output, unless you add --merge.',
    );
  });

  test('a retailer without a name is rejected with its advertiser id', async () => {
    const programmes = '[{"id":4711,"displayUrl":"https://x.example"}]';
    expect((await errorOf(awinShop({ programmes }))).message).toBe(
      [
        'programmes, line 1 (item 1), id 4711: name is missing',
        'Nothing was converted: 1 of 1 row is invalid.',
      ].join('\n'),
    );
  });

  test.each<[string, NetworkName, Record<string, string>, string, string, string]>([
    ['297335', 'awin', awinFiles, 'commission-groups', '"percentage":5.25', '"percentage":"5-6"'],
    ['1234567:380:37514', 'cj', cjFiles, 'advertisers', '>8.00%<', '>4.00% - 8.00%<'],
    ['1234567:380:default', 'cj', cjFiles, 'advertisers', '>5.00%<', '>up to 5%<'],
    ['2240', 'impact', impactFiles, 'contracts', '"DefaultPayoutRate":"5"', '"DefaultPayoutRate":"some"'],
    ['185078', 'rakuten', rakutenFiles, 'offers', '"commission":10.5', '"commission":"much"'],
    ['default:111111l30', 'partnerize', partnerizeFiles, 'campaigns', '"3.5"', '"3,5"'],
    ['7:111111l92', 'partnerize', partnerizeFiles, 'commissions=111111l29', ':8}', ':"8 %"}'],
  ])(
    'with skipInvalid, the invalid rate %s of %s removes only its own offer',
    async (id, network, files, name, good, bad) => {
      const changes = { country: 'GB' };
      const whole = await convertCatalogueOf(network, files, changes);
      const expected = whole.rows.map((row) => ({
        ...row,
        cashbackOffers: (row.cashbackOffers as Row[]).filter((it) => it.id !== idOf(network, 'offer', id)),
      }));
      const changed = { ...files, [name]: files[name]?.replace(good, bad) };
      const { rows, report } = await convertCatalogueOf(network, changed, changes, { skipInvalid: true });
      expect([rows, report.problems.map((problem) => problem.id)]).toEqual([expected, [id]]);
      expect(rows).not.toEqual(whole.rows);
    },
  );

  test('the same file may be given twice, but conflicting versions of a row are rejected', async () => {
    const { rows } = await awinShop({ ...awinFiles, 'programmes again': awinFiles.programmes });
    expect(rows).toHaveLength(2);
    const renamed = awinFiles.programmes.replace('Greenthumb DE', 'Redthumb DE');
    const error = await errorOf(awinShop({ ...awinFiles, 'programmes again': renamed }));
    expect(error.message).toContain(
      'programmes again, line 1 (item 1), id 17874: the row appears twice with different contents',
    );
  });

  test('offers, coupons and promotions of unknown retailers are left out and counted', async () => {
    const { rows, report } = await awinShop({ ...awinFiles, programmes: '[]' });
    expect([rows, report.notes]).toEqual([
      [],
      [
        'Left out: offers of advertisers that are not among the retailers (3 rows).',
        'Left out: coupons of advertisers that are not among the retailers (1 row).',
        'Left out: promotions of advertisers that are not among the retailers (1 row).',
      ],
    ]);
  });

  const cjPage = (list: string, page: number, count: number, total: number) =>
    `<cj-api><${list} total-matched="${total}" records-returned="${count}" page-number="${page}"/></cj-api>`;
  const rakutenPage = (list: string, page: unknown, next: string | undefined) =>
    JSON.stringify({ [list]: [], _metadata: { page, _links: { self: '', next } } });
  const couponPage = (page: number, pages: number) =>
    `<couponfeed><TotalMatches>9</TotalMatches><TotalPages>${pages}</TotalPages><PageNumberRequested>${page}</PageNumberRequested></couponfeed>`;
  const dealPage = (campaign: number, page: number, pages: number) =>
    impactPage('Deals', [], {
      '@uri': `/Mediapartners/SID/Campaigns/${campaign}/Deals?State=ACTIVE&Page=${page}`,
      '@page': String(page),
      '@nextpageuri': page < pages ? `/next?Page=${page + 1}` : '',
    });
  const awinPage = (page: number) => JSON.stringify({ data: [], pagination: { page, totalPages: 3 } });

  const links = [cjPage('links', 1, 100, 250), cjPage('links', 2, 100, 251), cjPage('links', 3, 51, 251)];
  const twoPages = [cjPage('advertisers', 1, 100, 101), cjPage('advertisers', 2, 1, 101)];
  const linked = [rakutenPage('advertisers', 1, '/v2?page=2'), rakutenPage('advertisers', 2, undefined)];
  const inStrings = [rakutenPage('offers', '1', '/v1?page=2'), rakutenPage('offers', '2', '')];
  const deals = [dealPage(7, 1, 2), dealPage(7, 2, 2), dealPage(8, 1, 2), dealPage(8, 2, 2)];
  test.each<[string, NetworkName, string, readonly string[]]>([
    ['page numbers and the number of pages', 'awin', 'offers', [1, 2, 3].map(awinPage)],
    ['a total row count', 'cj', 'links', links],
    ['a total row count for two pages', 'cj', 'advertisers', twoPages],
    ['page numbers in elements', 'rakuten', 'coupons', [1, 2, 3].map((page) => couponPage(page, 3))],
    ['page numbers and a link to the next page', 'rakuten', 'advertisers', linked],
    ['page numbers as strings', 'rakuten', 'offers', inStrings],
    ['the URL of the query', 'impact', 'deals', deals],
  ])('all pages with %s (%s) are required, in any order', async (_what, network, name, pages) => {
    const convertPages = (...given: readonly string[]) =>
      convertCatalogueOf(network, { [name]: given.join('\n') });
    for (const all of [pages, pages.toReversed(), [...pages, ...pages]]) {
      expect((await convertPages(...all)).rows).toEqual([]);
    }
    for (const left of pages) {
      const error = await errorOf(convertPages(...pages.filter((page) => page !== left)));
      expect([error.name, error.message]).toEqual([
        'Refused',
        `a page of --${name} is missing: a response announces more rows than the files contain; nothing was converted, because an import would withdraw the missing items`,
      ]);
    }
  });

  test('Partnerize: the last page of each campaign is required', async () => {
    const page = (next: string | null) =>
      JSON.stringify({ active_commissions: [], hypermedia: { pagination: { next_page: next } } });
    const [open, last] = [page('/v2/campaigns/1/publishers/2/commissions/active?offset=100'), page(null)];
    const files = {
      campaigns: '{"campaigns":[]}',
      'commissions=1': `${open}\n${last}`,
      'commissions=2': last,
    };
    expect((await convertCatalogueOf('partnerize', files)).rows).toEqual([]);
    const error = await errorOf(convertCatalogueOf('partnerize', { ...files, 'commissions=1': open }));
    expect(error.message).toStartWith('a page of --commissions 1=… is missing');
  });
});

test('an invalid overlay is rejected with the line of each problem', () => {
  const source = sourceFor('cj', { share: { default: 0.5, advertisers: { 7: 0.1 } } });
  const text = [
    'advertiserId,logo,category,countries,featured,share',
    '1,ftp://x,Garden,DE at,yes,1.5',
    '',
    ',https://x.example/l.svg,,,,',
    '1,,,,,',
    '7,,,"DE  AT",true,0.25',
  ].join('\n');
  expect(() => parseOverlay(text, 'overlay.csv', source)).toThrow(
    [
      'overlay.csv, line 2: logo must be a URL that starts with http:// or https://',
      'overlay.csv, line 2: countries must be codes of two capital letters, separated by spaces',
      'overlay.csv, line 2: featured must be true or false',
      'overlay.csv, line 2: share must be between 0 and 1',
      'overlay.csv, line 4: advertiserId is missing',
      'overlay.csv, line 5: advertiserId 1 appears twice',
      'overlay.csv, line 6: share of 7 is also in the source file',
    ].join('\n'),
  );
  expect(() => parseOverlay('id,logo\n1,x', 'overlay.csv', source)).toThrow(
    'overlay.csv, line 1: "id" is not one of advertiserId, logo, category, countries, featured, share\noverlay.csv, line 1: the column advertiserId is missing',
  );
  expect(() => parseOverlay('\ufeffadvertiserId,category\n1,"a\n2,b', 'overlay.csv', source)).toThrow(
    'overlay.csv, line 2: the row has a quote that is never closed',
  );
  expect(() => parseOverlay('advertiserId,category\n1,a"b\n2,b', 'overlay.csv', source)).toThrow(
    'overlay.csv, line 2: the row has a quote in the wrong place',
  );
});
