// A small catalogue of each network, with real field names and invented values, and its conversion.

import type { NetworkName } from '../src/source/source-file.ts';
import {
  type Conversion,
  type ConversionOptions,
  convertShops,
  impactPage,
  type Row,
  sourceFor,
} from './fixture.ts';

const LOGO = 'https://logos.example/greenthumb.svg';

export const awinFiles = {
  programmes: JSON.stringify([
    {
      id: 17874,
      name: 'Greenthumb DE',
      displayUrl: 'https://www.greenthumb.example/',
      membershipStatus: 'joined',
      logoUrl: LOGO,
      primaryRegion: { name: 'Germany', countryCode: 'DE' },
      validDomains: [{ domain: 'greenthumb.example' }],
    },
    {
      id: 20001,
      name: 'Selo Brasil',
      displayUrl: 'https://selo.example',
      logoUrl: null,
      primaryRegion: { name: 'Brazil (USD)', countryCode: 'BU' },
    },
    { id: 20002, name: 'Stranger', displayUrl: 'https://stranger.example', membershipStatus: 'notjoined' },
  ]),
  'commission-groups': [
    JSON.stringify({
      advertiser: 17874,
      commissionGroups: [
        { groupId: 297335, groupName: 'Default', type: 'percentage', percentage: 5.25 },
        {
          groupId: 297336,
          groupName: 'New customers',
          type: 'fix',
          amount: 7.25,
          currency: 'EUR',
          conditions: [{ type: 'customer', operator: 'is', values: ['new', 'returning'] }],
        },
      ],
    }),
    JSON.stringify({
      advertiser: 20001,
      commissionGroups: [{ groupId: 300001, groupName: 'Padrão', type: 'percentage', percentage: 8 }],
    }),
  ].join('\n'),
  offers: JSON.stringify({
    data: [
      {
        promotionId: 2651268,
        type: 'voucher',
        advertiser: { id: 17874, name: 'Greenthumb DE', joined: true },
        title: '10% off bulbs',
        description: 'On all bulbs',
        startDate: '2026-11-01T08:00:00+00:00',
        endDate: '2026-12-01T08:00:00+00:00',
        url: 'https://www.greenthumb.example/bulbs',
        voucher: { code: 'SPRING10' },
      },
      {
        promotionId: 2651269,
        type: 'promotion',
        advertiser: { id: 17874, name: 'Greenthumb DE', joined: true },
        title: 'Free delivery',
        description: 'Free delivery',
        startDate: '2026-11-01T09:00:00+01:00',
        endDate: '2026-12-01',
        url: 'https://www.greenthumb.example/delivery',
      },
    ],
    pagination: { page: 1, pageSize: 200, totalPages: 1 },
  }),
};

export const awinOverlay = new Map([
  ['20001', { logo: 'https://logos.example/selo.svg', category: 'Stamps', featured: true, share: 0.25 }],
]);

export function awinShop(files: Row = awinFiles, options: ConversionOptions = {}): Promise<Conversion> {
  const all = { overlay: awinOverlay, ...options };
  return convertShops(sourceFor('awin'), files as Record<string, string>, all);
}

export const impactFiles = {
  campaigns: impactPage('Campaigns', [
    {
      AdvertiserUrl: 'https://corporation.example',
      CampaignId: '10306',
      CampaignName: 'Greenthumb',
      CampaignUrl: 'https://www.greenthumb.example',
      ShippingRegions: ['SOUTHAFRICA', 'UK', 'YOGOSLAVIA'],
      ContractStatus: 'Active',
    },
  ]),
  contracts: impactPage('Contracts', [
    {
      CampaignId: '10306',
      Status: 'ACTIVE',
      Terms: {
        Currency: 'USD',
        EventPayouts: [
          {
            EventTypeId: '2240',
            EventTypeName: 'Online Sale',
            EventCategory: 'SALE',
            DefaultPayoutRate: '5',
          },
          {
            EventTypeId: '2241',
            EventTypeName: 'Subscription',
            EventCategory: 'SALE',
            DefaultPayoutRate: '0',
            DefaultPayout: '12.50',
          },
          { EventTypeId: '2242', EventTypeName: 'Newsletter', EventCategory: 'LEAD', DefaultPayout: '1.00' },
        ],
        SpecialTermsList: [
          { TermsContent: '<p>Not on&nbsp;gift cards &amp; <b>stamps</b>.</p><script>x</script>' },
        ],
      },
    },
  ]),
  'promo-codes': impactPage('PromoCodes', [
    {
      Id: '8111554',
      Code: 'HAZEL10',
      State: 'ACTIVE',
      Program: { Id: '10306', Name: 'Greenthumb' },
      Deal: { Id: '92812', Name: 'Summer promotion' },
      MatchMode: 'LI',
      StartDate: '2026-01-01T00:00:00-08:00',
    },
    { Id: '8111555', Code: 'H.*', State: 'ACTIVE', Program: { Id: '10306' }, MatchMode: 'RE' },
    { Id: '8111556', Code: 'OLD', State: 'EXPIRED', Program: { Id: '10306' }, MatchMode: 'LI' },
  ]),
  deals: impactPage('Deals', [
    {
      Id: '92812',
      Name: 'Free shipping',
      Description: 'On everything',
      CampaignId: '10306',
      State: 'ACTIVE',
      DefaultPromoCode: '',
      StartDate: '',
      EndDate: '',
    },
    { Id: '92813', Name: 'Mystery', CampaignId: '10306', State: 'ACTIVE', DefaultPromoCode: 'MYSTERY' },
  ]),
};

export const partnerizeFiles = {
  campaigns: JSON.stringify({
    campaigns: [
      {
        campaign: {
          campaign_id: '111111l29',
          title: 'Greenthumb',
          destination_url: 'https://www.greenthumb.example/',
          campaign_logo: LOGO,
          terms: { en: { terms: 'Not on gift cards' } },
          default_commission_rate: '5',
          default_currency: 'GBP',
          vertical_name: 'Garden',
          publisher_status: 'a',
        },
      },
      {
        campaign: {
          campaign_id: '111111l30',
          title: 'Selo',
          destination_url: 'https://selo.example/',
          campaign_logo: LOGO,
          default_commission_value: '3.5',
          default_currency: 'GBP',
          publisher_status: 'a',
        },
      },
    ],
  }),
  'commissions=111111l29': JSON.stringify({
    active_commissions: [
      {
        id: '7',
        description: 'Bulbs',
        rates: [
          { id: '111111l92', performance_model: 'percentage_cpa', performance_value: 8 },
          { id: '111111l93', performance_model: 'fixed_cpa', performance_value: 1.25 },
          { id: '111111l94', performance_model: 'cpc', performance_value: 0.1 },
        ],
      },
    ],
  }),
  vouchers: JSON.stringify({
    count: 1,
    voucher_codes: [
      {
        voucher_code: {
          active: 'y',
          campaign_id: '111111l29',
          description: '10% off',
          voucher_code: 'SPRING10',
          voucher_code_id: '111111l1000015',
          start_date_time: '2026-11-01 15:00:00',
          end_date_time: '2026-12-01 15:00:00',
        },
      },
    ],
  }),
};

export const cjFiles = {
  advertisers: `<?xml version="1.0" encoding="UTF-8"?>
<cj-api><advertisers total-matched="1" records-returned="1" page-number="1"><advertiser>
<advertiser-id>1234567</advertiser-id><account-status>Active</account-status><language>en</language>
<advertiser-name>Greenthumb &amp; Daughters</advertiser-name><program-url>https://www.greenthumb.example</program-url>
<relationship-status>joined</relationship-status><network-rank>4</network-rank>
<primary-category><parent>Home &amp; Garden</parent><child>Garden</child></primary-category>
<actions><action><name>Purchase</name><type>advanced sale</type><id>380</id><commission>
<itemlist name="Bulbs" id="37514">8.00%</itemlist><itemlist name="Tools" id="37515">USD 5.00</itemlist>
<default>5.00%</default></commission></action></actions></advertiser></advertisers></cj-api>`,
  links: `<cj-api><links total-matched="3" records-returned="3" page-number="1"><link><advertiser-id>1234567</advertiser-id>
<description>10% off bulbs</description><destination>https://www.greenthumb.example/bulbs</destination><link-id>13000001</link-id>
<link-name>10% off bulbs</link-name><promotion-type>coupon</promotion-type>
<promotion-start-date>2026-11-01 00:00:00.0</promotion-start-date><promotion-end-date>2026-12-01 23:59:00.0</promotion-end-date>
<coupon-code>SPRING10</coupon-code><relationship-status>joined</relationship-status></link>
<link><advertiser-id>1234567</advertiser-id><description>Free shipping</description><link-id>13000002</link-id>
<link-name>Ships free</link-name><destination>https://www.greenthumb.example/ships</destination>
<promotion-type>free shipping</promotion-type><promotion-start-date/><promotion-end-date/><coupon-code/></link>
<link><advertiser-id>1234567</advertiser-id><link-id>13000003</link-id><link-name>Logo</link-name><promotion-type/></link></links></cj-api>`,
};

export const rakutenFiles = {
  advertisers: JSON.stringify({
    _metadata: { page: 1, limit: 200, total: 2, _links: { next: '', self: '/v2/advertisers?page=1' } },
    advertisers: [
      { id: 3358, name: 'Greenthumb', url: 'https://www.greenthumb.example/' },
      { id: 3359, name: 'Stranger', url: 'https://stranger.example/' },
    ],
  }),
  partnerships: JSON.stringify({
    partnerships: [{ advertiser: { id: 3358, network: 1, name: 'Greenthumb' }, status: 'active' }],
  }),
  offers: JSON.stringify({
    _metadata: { page: 1, limit: 10, total: 1, _links: { self: '/v1/offers?page=1' } },
    offers: [
      {
        advertiser: { id: 3358, network: '1 - United States', name: 'Greenthumb' },
        name: 'Autumn',
        terms_url: 'https://terms.example/1',
        offer_rules: [
          {
            oid: 185078,
            sku_list_name: 'Bulbs',
            commissions: [
              {
                commission_type: 'percentage',
                description: 'Base',
                tiers: [{ commission: 10.5 }],
              },
            ],
          },
        ],
      },
    ],
  }),
  coupons: `<couponfeed><TotalMatches>2</TotalMatches><TotalPages>1</TotalPages><PageNumberRequested>1</PageNumberRequested>
<link type="TEXT"><categories><category id="16">Garden</category></categories><offerdescription>10% off bulbs</offerdescription>
<offerstartdate>2026-11-01</offerstartdate><offerenddate>2026-12-01</offerenddate><couponcode>SPRING10</couponcode>
<couponrestriction>Not on gift cards</couponrestriction><clickurl>https://click.linksynergy.com/fs-bin/click?id=AAA&amp;offerid=1</clickurl>
<advertiserid>3358</advertiserid><advertisername>Greenthumb</advertisername><network id="1">US Network</network></link>
<link type="TEXT"><offerdescription>Free delivery</offerdescription><offerstartdate>2026-11-01</offerstartdate><offerenddate></offerenddate>
<clickurl>https://click.linksynergy.com/deeplink?id=AAA&amp;mid=3358&amp;murl=https%3A%2F%2Fwww.greenthumb.example%2Fdelivery</clickurl>
<advertiserid>3358</advertiserid></link></couponfeed>`,
};

/** A logo and countries for the retailers of every network. */
export const fullOverlay = new Map(
  ['17874', '20001', '10306', '1234567', '3358'].map((id) => [id, { logo: LOGO, countries: ['US'] }]),
);

const OVERLAYS: Readonly<Partial<Record<NetworkName, string>>> = {
  awin: '20001',
  impact: '10306',
  cj: '1234567',
  rakuten: '3358',
};

/** Converts a catalogue with an overlay that has the missing logos and countries. */
export function convertCatalogueOf(
  network: NetworkName,
  files: Row,
  changes: Row = {},
  options: ConversionOptions = {},
): Promise<Conversion> {
  const id = OVERLAYS[network];
  const countries = network === 'cj' ? ['US', 'CA'] : undefined;
  const overlay = id === undefined ? new Map() : new Map([[id, { logo: LOGO, countries }]]);
  return convertShops(sourceFor(network, changes), files as Record<string, string>, { overlay, ...options });
}
