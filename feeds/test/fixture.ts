// Shared by the feed tests: rows of each network with real field names and invented values, and conversions in memory.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { convertCatalogue, convertLinks } from '../src/catalogue/convert-catalogue.ts';
import type { ConvertReport, RowSpool } from '../src/convert-run.ts';
import { openFeeds } from '../src/networks.ts';
import type { Overlay } from '../src/source/overlay.ts';
import { type NetworkName, parseSource, type Source } from '../src/source/source-file.ts';
import { convertTransactions } from '../src/transactions/convert-transactions.ts';
import type { CouponCodes } from '../src/transactions/coupon-codes.ts';

export type Row = Record<string, unknown>;

export const NAMESPACE = '6f6b2c64-5f0e-4b51-9a3e-2f1f0f6f7a10';
/** The current time in every test. */
export const NOW_MS = Date.UTC(2026, 10, 20);

const NEEDED: Readonly<Partial<Record<NetworkName, Row>>> = {
  cj: { currency: 'USD' },
  rakuten: { country: 'US' },
};

export function sourceFor(network: NetworkName, changes: Row = {}): Source {
  const common = {
    network,
    account: '77777',
    namespace: NAMESPACE,
    share: { default: 0.5 },
    subId: 'uid',
    ...NEEDED[network],
  };
  return parseSource(JSON.stringify({ ...common, ...changes }), 'source.json');
}

/** Our id for a network's id, computed independently of the code under test. */
export function idOf(network: NetworkName, kind: string, theirId: string): string {
  const name = new TextEncoder().encode(`${network}:77777:${kind}:${theirId}`);
  const bytes = new Bun.CryptoHasher('sha1')
    .update(Buffer.from(NAMESPACE.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

class MemorySpool implements RowSpool {
  readonly #rows: (string | undefined)[] = [];

  get count(): number {
    return this.rows.length;
  }

  get rows(): readonly string[] {
    return this.#rows.filter((row) => row !== undefined);
  }

  append(row: string): number {
    return this.#rows.push(row) - 1;
  }

  drop(number: number): void {
    this.#rows[number] = undefined;
  }

  async flush(): Promise<void> {}
}

export interface Conversion {
  /** Sorted by id. */
  readonly rows: readonly Row[];
  readonly report: ConvertReport;
}

export interface ConversionOptions {
  readonly skipInvalid?: boolean;
  readonly organisation?: string;
  readonly coupons?: CouponCodes;
  readonly nowMs?: number;
  readonly overlay?: Overlay;
}

/** Files by name, or the contents of a single file named `the file`. */
export type Files = string | Uint8Array | Readonly<Record<string, string | Uint8Array>>;

export async function convertSales(
  source: Source,
  files: Files,
  options: ConversionOptions = {},
): Promise<Conversion> {
  const { transactions } = openFeeds(source, options.nowMs ?? NOW_MS);
  if (transactions === undefined) throw new Error('the source has no transactions');
  const spool = new MemorySpool();
  const { overlay = new Map(), coupons, organisation } = options;
  const rules = { source, overlay, coupons, organisation };
  const report = await convertTransactions(transactions, rules, named(files), spool, options);
  return { rows: parsed(spool), report };
}

/** Converts a catalogue from files by option; a key such as `commissions=ID` names the advertiser. */
export async function convertShops(
  source: Source,
  files: Readonly<Record<string, string>>,
  options: ConversionOptions = {},
): Promise<Conversion> {
  const rules = { source, overlay: options.overlay ?? new Map() };
  const spool = new MemorySpool();
  const report = await convertCatalogue(openFiles(source, files, options), rules, spool, options);
  return { rows: parsed(spool), report };
}

/** Like convertShops(), for links. Rows are in the order of the output. */
export async function convertShopLinks(
  source: Source,
  files: Readonly<Record<string, string>>,
  options: ConversionOptions = {},
): Promise<Conversion> {
  const spool = new MemorySpool();
  const opened = openFiles(source, files, options);
  const report = await convertLinks(opened, source, source.link ?? '', spool, options);
  return { rows: spool.rows.map((row) => JSON.parse(row) as Row), report };
}

function openFiles(source: Source, files: Readonly<Record<string, string>>, options: ConversionOptions) {
  const { catalogue } = openFeeds(source, options.nowMs ?? NOW_MS);
  return Object.entries(files).map(([key, content]) => {
    const [name = '', advertiserId] = key.replace(/ .*/, '').split('=');
    const feed = catalogue[name];
    if (feed === undefined) throw new Error(`the network has no feed ${name}`);
    return { feed, name, advertiserId, source: sourceFrom(content, key) };
  });
}

function named(files: Files) {
  if (typeof files === 'string' || files instanceof Uint8Array) return [sourceFrom(files, 'the file')];
  return Object.entries(files).map(([name, content]) => sourceFrom(content, name));
}

function parsed(spool: MemorySpool): Row[] {
  const rows = spool.rows.map((row) => JSON.parse(row) as Row & { id: string });
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the error that rejects a promise. */
export async function errorOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.catch((reason: unknown) => reason);
  if (error instanceof Error) return error;
  throw new Error('the promise was not rejected');
}

export function awinSale(changes: Row = {}): Row {
  return {
    id: 900100200,
    advertiserId: 17874,
    commissionStatus: 'pending',
    commissionAmount: { amount: 4.05, currency: 'EUR' },
    saleAmount: { amount: 81, currency: 'EUR' },
    customerCountry: 'DE',
    clickRefs: { clickRef: 'c7Qm2ZxT0a', clickRef2: 'autumn' },
    clickDate: '2026-11-14T11:20:00',
    transactionDate: '2026-11-14T12:00:00',
    validationDate: null,
    voucherCode: 'SPRING10',
    orderRef: null,
    amended: false,
    oldSaleAmount: null,
    oldCommissionAmount: null,
    transactionParts: [
      { commissionGroupId: 297335, amount: 81, commissionAmount: 4.05, commissionGroupCode: 'DEFAULT' },
    ],
    ...changes,
  };
}

export function impactAction(changes: Row = {}): Row {
  return {
    Id: '10306.4636.158133',
    CampaignId: '10306',
    ActionTrackerId: '2240',
    State: 'PENDING',
    Payout: '4.05',
    IntendedPayout: '4.05',
    Amount: '81.00',
    IntendedAmount: '81.00',
    Currency: 'EUR',
    ReferringDate: '2026-11-14T12:20:00+01:00',
    EventDate: '2026-11-14T13:00:00+01:00',
    PromoCode: 'SPRING10',
    Oid: 'A-100',
    CustomerCountry: 'DE',
    SubId1: 'c7Qm2ZxT0a',
    SubId2: 'autumn',
    ...changes,
  };
}

export function impactPage(list: string, rows: readonly Row[], changes: Row = {}): string {
  const frame = { '@page': '1', '@numpages': '1', '@pagesize': '1000', '@total': '1', '@nextpageuri': '' };
  return JSON.stringify({ ...frame, ...changes, [list]: rows });
}

export function partnerizeItem(changes: Row = {}): Row {
  return {
    item_value: 81,
    item_publisher_commission: 4.05,
    item_status: 'pending',
    ...changes,
  };
}

export function partnerizeConversion(changes: Row = {}, value: Row = {}): Row {
  return {
    conversion_data: {
      conversion_id: '111111l314',
      campaign_id: '111111l29',
      conversion_time: '2026-11-14 12:00:00',
      currency: 'EUR',
      publisher_reference: 'c7Qm2ZxT0a',
      conversion_reference: 'A-100',
      last_modified: '2026-11-14 12:05:31',
      country: 'DE',
      click: { set_time: '2026-11-14 11:20:00', status: 'used', publisher_reference: 'c7Qm2ZxT0a' },
      conversion_value: { conversion_status: 'pending', value: 81, publisher_commission: 4.05, ...value },
      conversion_items: [partnerizeItem()],
      ...changes,
    },
  };
}

export function partnerizePage(conversions: readonly Row[]): string {
  return JSON.stringify({ count: conversions.length, limit: 300, conversions });
}

export function cjRecord(changes: Row = {}): Row {
  return {
    commissionId: '2900000001',
    original: true,
    originalActionId: '1700000077',
    actionStatus: 'new',
    actionTrackerId: '380',
    validationStatus: 'AUTOMATED',
    advertiserId: '1234567',
    clickDate: '2026-11-14T11:20:00Z',
    eventDate: '2026-11-14T12:00:00Z',
    postingDate: '2026-11-14T12:30:00Z',
    orderId: 'A-100',
    saleAmountPubCurrency: '80.00',
    pubCommissionAmountPubCurrency: '4.00',
    country: 'US',
    coupon: 'SPRING10',
    shopperId: 'c7Qm2ZxT0a',
    ...changes,
  };
}

/** A correction of the record above. */
export function cjCorrection(changes: Row = {}): Row {
  return cjRecord({
    commissionId: '2900000002',
    original: false,
    postingDate: '2026-11-20T09:00:00Z',
    saleAmountPubCurrency: '-80.00',
    pubCommissionAmountPubCurrency: '-4.00',
    ...changes,
  });
}

export function cjAnswer(records: readonly Row[], changes: Row = {}): string {
  const list = { count: records.length, limit: 10000, payloadComplete: true, maxCommissionId: '2900000002' };
  return JSON.stringify({ data: { publisherCommissions: { ...list, ...changes, records } } });
}

export function rakutenSku(changes: Row = {}): Row {
  return {
    etransaction_id: '61BCF6217AE356AE46E8A0D64BCD693D',
    advertiser_id: '3358',
    order_id: 'A-100',
    offer_id: '185078',
    sku_number: 'bulb-1',
    sale_amount: 81,
    commissions: 4.05,
    process_date: 'Sat Nov 14 2026 12:05:00 GMT+0000 (UTC)',
    transaction_date: 'Sat Nov 14 2026 12:00:00 GMT+0000 (UTC)',
    transaction_type: 'realtime',
    u1: 'c7Qm2ZxT0a',
    currency: 'EUR',
    is_event: 'N',
    ...changes,
  };
}
