// One sale of each network, field by field; the owner of a sale; and files described by a table source.

import { describe, expect, test } from 'bun:test';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { NetworkName, Source } from '../src/source/source-file.ts';
import { CouponCodes } from '../src/transactions/coupon-codes.ts';
import {
  awinSale,
  cjAnswer,
  cjCorrection,
  cjRecord,
  convertSales,
  errorOf,
  idOf,
  impactAction,
  impactPage,
  partnerizeConversion,
  partnerizePage,
  type Row,
  rakutenSku,
  sourceFor,
} from './fixture.ts';

const common = {
  clickedAt: '2026-11-14T11:20:00',
  soldAt: '2026-11-14T12:00:00',
  currencyCode: 'EUR',
  orderValue: 81,
  cashback: 2.02,
  activatedAt: null,
  passbackUid: 'c7Qm2ZxT0a',
  passbackData: null,
  status: 'PENDING',
  cashbackOfferId: null,
  couponId: null,
  promotionId: null,
};

describe('complete sales', () => {
  test.each<[NetworkName, string, string, string, Row]>([
    [
      'awin',
      JSON.stringify([awinSale()]),
      '900100200',
      '17874',
      { country: 'DE', passbackData: 'autumn', cashbackOfferId: idOf('awin', 'offer', '297335') },
    ],
    [
      'impact',
      impactPage('Actions', [impactAction()]),
      '10306.4636.158133',
      '10306',
      { country: 'DE', passbackData: 'autumn', cashbackOfferId: idOf('impact', 'offer', '2240') },
    ],
    [
      'partnerize',
      partnerizePage([partnerizeConversion({}, { conversion_status: 'approved' })]),
      '111111l314',
      '111111l29',
      { country: 'DE', status: 'CONFIRMED', sourceUpdatedAt: '2026-11-14T12:05:31' },
    ],
    [
      'cj',
      cjAnswer([cjRecord()]),
      '1700000077',
      '1234567',
      {
        country: 'US',
        ...{ currencyCode: 'USD', orderValue: 80, cashback: 2 },
        sourceUpdatedAt: '2026-11-14T12:30:00',
      },
    ],
    [
      'rakuten',
      JSON.stringify([rakutenSku()]),
      '3358:A-100',
      '3358',
      { country: 'US', clickedAt: null, sourceUpdatedAt: '2026-11-14T12:05:00' },
    ],
  ])('a sale of %s is converted with every field', async (network, file, sale, retailer, changes) => {
    const { rows } = await convertSales(sourceFor(network), file);
    const ids = { id: idOf(network, 'transaction', sale), retailerId: idOf(network, 'retailer', retailer) };
    expect(rows).toEqual([{ ...common, ...changes, ...ids }]);
  });

  test("a sale in Partnerize's CSV export is converted with every field except the passbackUid, which the export lacks", async () => {
    const header =
      'conversion_id,campaign_id,publisher_id,conversion_date,conversion_date_time,click_time,click_date,click_date_time,currency,advertiser_reference,conversion_reference,referer_ip,source_referer,campaign_title,publisher_name,conversion_status,conversion_lag,value,commission,publisher_commission,creative_type,creative_id,specific_creative_id,customer_type,was_disputed,cookie_id,country,currency_original,currency_conversion_rate,customer_reference,camref';
    const cells =
      '111111l314,111111l29,111111l92,2026-11-14,2026-11-14 12:00:00,11:20:00,2026-11-14,2026-11-14 11:20:00,EUR,,A-100,,,Greenthumb,Cashback,pending,1,81.00,5.00,4.05,,,,new,n,,DE,EUR,1,,abc';
    const csv = `${header}\n${cells}\n`;
    const { rows, report } = await convertSales(sourceFor('partnerize'), csv);
    const id = idOf('partnerize', 'transaction', '111111l314');
    const retailerId = idOf('partnerize', 'retailer', '111111l29');
    expect(rows).toEqual([{ id, country: 'DE', ...common, passbackUid: null, retailerId }]);
    expect(report.notes).toEqual([
      'The CSV export has no publisher reference, so the sales have no passbackUid.',
    ]);
    const byClick = errorOf(convertSales(sourceFor('partnerize', { subId: 'click' }), csv));
    expect((await byClick).message).toContain('the file must be JSON, but looks like CSV');
  });
});

describe('sourceUpdatedAt, the time of the last change at the network,', () => {
  const timeOf = async (source: Source, ...rows: Row[]) => {
    const print = { awin: JSON.stringify, cj: cjAnswer, rakuten: JSON.stringify, partnerize: partnerizePage };
    const converted = await convertSales(source, print[source.network as keyof typeof print](rows));
    return converted.rows.map((row) => row.sourceUpdatedAt);
  };

  test('is the validation date of a decided sale of Awin, and undefined for a pending sale', async () => {
    const sale = { validationDate: '2026-11-16T01:00:00', amended: true };
    const berlin = sourceFor('awin', { timeZone: 'Europe/Berlin' });
    for (const commissionStatus of ['approved', 'deleted'])
      expect(await timeOf(berlin, awinSale({ ...sale, commissionStatus }))).toEqual(['2026-11-16T00:00:00']);
    expect(await timeOf(berlin, awinSale(sale))).toEqual([undefined]);
  });

  test('is the latest posting date of CJ, if there is one', async () => {
    const undated = { commissionId: '2900000003', postingDate: null, saleAmountPubCurrency: '1' };
    const records = [cjRecord(), cjCorrection(), cjCorrection(undated)];
    expect(await timeOf(sourceFor('cj'), ...records)).toEqual(['2026-11-20T09:00:00']);
    expect(await timeOf(sourceFor('cj'), cjRecord({ postingDate: '' }))).toEqual([undefined]);
  });

  test('is the latest process date of Rakuten, if there is one', async () => {
    const process_date = 'Mon Nov 16 2026 01:00:00 GMT+0100 (CET)';
    const skus = [rakutenSku(), rakutenSku({ etransaction_id: '2', process_date })];
    expect(await timeOf(sourceFor('rakuten'), ...skus)).toEqual(['2026-11-16T00:00:00']);
    expect(await timeOf(sourceFor('rakuten'), rakutenSku({ process_date: '' }))).toEqual([undefined]);
  });

  test('is the last modification at Partnerize, also of a sale with a click id', async () => {
    const source = sourceFor('partnerize', { subId: 'click' });
    expect(await timeOf(source, partnerizeConversion())).toEqual(['2026-11-14T12:05:31']);
  });
});

describe('the country of a sale', () => {
  const sale = awinSale({ customerCountry: null });

  test("Awin: a sale without a country gets the advertiser's country, or else the source file's", async () => {
    const country = async (row: Row, changes: Row = {}) =>
      (await convertSales(sourceFor('awin', changes), JSON.stringify([row]))).rows[0]?.country;
    expect(await country({ ...sale, advertiserCountry: 'AT' }, { country: 'CH' })).toBe('AT');
    expect(await country(sale, { country: 'CH' })).toBe('CH');
  });

  test('Awin: a sale is rejected if neither the network nor the source file specifies a country', async () => {
    const error = await errorOf(convertSales(sourceFor('awin'), JSON.stringify([sale])));
    expect(error.message).toContain(
      'id 900100200: country is missing from both the network and the source file',
    );
  });

  test('CJ: a three-letter country code is rejected', async () => {
    const error = await errorOf(convertSales(sourceFor('cj'), cjAnswer([cjRecord({ country: 'USA' })])));
    expect(error.message).toContain('id 1700000077: country must be a country code of two capital letters');
  });
});

describe('the owner of a sale', () => {
  test('subId click: the click id replaces every field that the service knows from the click', async () => {
    const { rows } = await convertSales(sourceFor('awin', { subId: 'click' }), JSON.stringify([awinSale()]));
    expect(rows).toEqual([
      {
        id: idOf('awin', 'transaction', '900100200'),
        clickId: 'c7Qm2ZxT0a',
        country: 'DE',
        soldAt: '2026-11-14T12:00:00',
        currencyCode: 'EUR',
        orderValue: 81,
        cashback: 2.02,
        status: 'PENDING',
        retailerId: idOf('awin', 'retailer', '17874'),
      },
    ]);
  });

  test("subId click: a sale without a click id keeps the network's data and has no owner", async () => {
    const file = JSON.stringify([awinSale({ clickRefs: null })]);
    const { rows } = await convertSales(sourceFor('awin', { subId: 'click' }), file);
    expect(rows).toEqual([
      expect.objectContaining({ clickedAt: '2026-11-14T11:20:00', passbackUid: null, passbackData: null }),
    ]);
    expect(Object.keys(rows[0] ?? {})).not.toContain('clickId');
  });

  const source = sourceFor('awin', { subId: 'org-uid', separator: '.' });
  const sales = (...refs: (string | null)[]) =>
    JSON.stringify(refs.map((clickRef, id) => awinSale({ id, clickRefs: { clickRef } })));

  test("subId org-uid: only the given organisation's sales are converted, and the passbackUid does not contain its name", async () => {
    const file = sales('acme.user-1', 'other.user-1', 'acme.a.b', 'acme2.x', 'acme.');
    const { rows, report } = await convertSales(source, file, { organisation: 'acme' });
    expect(rows.map((row) => row.passbackUid).sort()).toEqual(['a.b', null, 'user-1']);
    expect([report.written, report.notes]).toEqual([3, ['Left out: sales of other organisations (2 rows).']]);
  });

  test.each(['user-1', '.user-1', null])(
    'subId org-uid: the sub-id %p, which lacks an organisation or a separator, is rejected, and the message does not repeat it',
    async (ref) => {
      const { message } = await errorOf(convertSales(source, sales(ref), { organisation: 'acme' }));
      expect(message).toStartWith(
        'the file, line 1 (item 1), id 0: the sub-id must be an organisation, "." and a passbackUid\n',
      );
    },
  );
});

test('a sale gets the only coupon that matches its code, retailer and time', async () => {
  const coupons = new CouponCodes();
  const coupon = (n: number, code: string, startDate: string, endDate: string) =>
    ({ id: `00000000-0000-4000-8000-00000000000${n}`, code, description: '', startDate, endDate }) as never;
  coupons.add(idOf('awin', 'retailer', '17874') as Uuid, [
    coupon(1, 'SPRING10', '2026-01-01T00:00:00', '2026-11-14T12:00:00'),
    coupon(2, 'SPRING10', '2026-11-14T12:00:00', '2026-12-01T00:00:00'),
    coupon(3, 'TWICE', '2026-01-01T00:00:00', '2027-01-01T00:00:00'),
    coupon(4, 'TWICE', '2026-01-01T00:00:00', '2027-01-01T00:00:00'),
  ]);
  // A later catalogue with one unchanged coupon and one with other dates.
  coupons.add(idOf('awin', 'retailer', '17874') as Uuid, [
    coupon(2, 'SPRING10', '2026-11-14T12:00:00', '2026-12-01T00:00:00'),
    coupon(3, 'LONGER', '2026-01-01T00:00:00', '2026-02-01T00:00:00'),
    coupon(3, 'LONGER', '2026-01-01T00:00:00', '2027-01-01T00:00:00'),
  ]);
  const source = sourceFor('awin');
  const found = async (changes: Row) => {
    // The report counts both versions as one sale.
    const sales = [awinSale(changes), awinSale({ ...changes, commissionStatus: 'approved' })];
    const { rows, report } = await convertSales(source, JSON.stringify(sales), { coupons });
    return [rows[0]?.couponId, ...report.notes];
  };
  expect(await found({})).toEqual(['00000000-0000-4000-8000-000000000002']);
  expect(await found({ transactionDate: '2026-11-14T11:59:59' })).toEqual([
    '00000000-0000-4000-8000-000000000001',
  ]);
  expect(await found({ voucherCode: 'LONGER' })).toEqual(['00000000-0000-4000-8000-000000000003']);
  const none = [
    null,
    'Sales whose coupon code does not match exactly one coupon of the catalogue: 1. Their couponId is null.',
  ];
  expect(await found({ voucherCode: 'TWICE' })).toEqual(none);
  expect(await found({ voucherCode: 'spring10' })).toEqual(none);
  expect(await found({ advertiserId: 1 })).toEqual(none);
  // No note without a catalogue, or if the click determines the coupon.
  const sale = JSON.stringify([awinSale({ voucherCode: 'OTHER' })]);
  expect((await convertSales(source, sale)).report.notes).toEqual([]);
  const byClick = await convertSales(sourceFor('awin', { subId: 'click' }), sale, { coupons });
  expect(byClick.report.notes).toEqual([]);
});

describe('files described by a table source', () => {
  const fields = {
    id: 'Order number',
    advertiserId: { column: 'Shop', trim: true, lower: true },
    status: { column: 'State', lower: true, words: { open: 'PENDING', paid: 'CONFIRMED', gone: 'DECLINED' } },
    soldAt: { column: 'Date', date: 'DD.MM.YYYY HH:mm', timeZone: 'Europe/Berlin' },
    currency: { constant: 'EUR' },
    country: { constant: 'DE' },
    orderValue: { column: 'Total', number: 'comma' },
    commission: { column: 'Commission', number: 'comma' },
    subId: 'Ref. no',
  };
  const source = sourceFor('table', { transactions: { separator: ';', fields } });
  const header = 'Order number;Shop;State;Date;Total;Commission;Ref. no;Note';

  test('CSV sales are converted with the configured separator, status words, date format and number format', async () => {
    const csv = [
      header,
      'A-1; Greenthumb ;Open;14.11.2026 13:00;1.081,00;4,05;user-1;"x; y"',
      '007;greenthumb;PAID;01.07.2026 00:30;5;0,1;;',
    ].join('\r\n');
    const { rows } = await convertSales(source, csv);
    const retailerId = idOf('table', 'retailer', 'greenthumb');
    const sale = { ...common, country: 'DE', clickedAt: null, retailerId };
    const expected = [
      { ...sale, id: idOf('table', 'transaction', 'A-1'), orderValue: 1081, passbackUid: 'user-1' },
      {
        ...sale,
        id: idOf('table', 'transaction', '007'),
        soldAt: '2026-06-30T22:30:00',
        orderValue: 5,
        cashback: 0.05,
        passbackUid: null,
        status: 'CONFIRMED',
      },
    ];
    expect(rows).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
  });

  test('problems name the column in the CSV file', async () => {
    const csv = `${header}\nA-1;;lost;30.02.2026 13:00;1.08,00;;;\n`;
    const { message } = await errorOf(convertSales(source, csv));
    expect(message.split('\n')).toEqual([
      'the file, line 2, id A-1: Shop is missing',
      'the file, line 2, id A-1: State is "lost", expected one of open, paid, gone',
      'the file, line 2, id A-1: Date is "30.02.2026 13:00", which is not a recognised time',
      'the file, line 2, id A-1: Total is "1.08,00", which is not a decimal number',
      'the file, line 2, id A-1: Commission is missing',
      'Nothing was converted: 1 of 1 row is invalid.',
    ]);
  });

  test('JSON sales are converted with paths to their list and into nested objects', async () => {
    const json = sourceFor('table', {
      transactions: {
        list: ['result', 'orders'],
        fields: {
          id: 'id',
          advertiserId: { constant: 'greenthumb' },
          status: { column: 'state' },
          soldAt: 'times.sold',
          clickedAt: 'times.clicked',
          modifiedAt: 'times.changed',
          currency: 'money.currency',
          country: { constant: 'DE' },
          orderValue: 'money.total',
          commission: 'money.commission',
          subId: 'refs.user',
          subData: 'refs.data',
        },
      },
    });
    const order = (changes: Row) => ({
      id: 12345,
      state: 'PENDING',
      times: { sold: '2026-11-14T12:00:00Z', clicked: '2026-11-14 11:20:00', changed: '2026-11-15' },
      money: { total: 81, commission: '4.05', currency: 'EUR' },
      refs: { user: 'c7Qm2ZxT0a', data: 'autumn' },
      ...changes,
    });
    const newer = order({
      state: 'CONFIRMED',
      times: { sold: '2026-11-14T12:00:00Z', changed: '2026-11-16' },
    });
    const file = JSON.stringify({ result: { orders: [newer, order({})] } });
    const { rows } = await convertSales(json, file);
    expect(rows).toEqual([
      {
        id: idOf('table', 'transaction', '12345'),
        country: 'DE',
        ...common,
        clickedAt: null,
        passbackData: 'autumn',
        status: 'CONFIRMED',
        retailerId: idOf('table', 'retailer', 'greenthumb'),
        sourceUpdatedAt: '2026-11-16T00:00:00',
      },
    ]);
  });
});
