// Tables whose columns the source file maps to our fields: CSV, JSON or NDJSON, with one row per sale, retailer or deal.

import { type Amount, ofPercent, parseAmount } from '@offerbook/wire/amount.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type { CatalogueFact, Rate } from '../catalogue/facts.ts';
import { Fields } from '../fields.ts';
import type { FeedShape } from '../formats/feed-row.ts';
import { parseCommaAmount } from '../localised-amount.ts';
import type { AffiliateNetwork, NetworkFeeds, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import type { Cell } from '../source/table-mapping.ts';
import { parseEnd, parseTime, patternReader, type TimeReader } from '../zoned-time.ts';

type TableName = 'transactions' | 'retailers' | 'offers' | 'coupons' | 'promotions';
type Mapping = Readonly<Record<string, Cell | undefined>>;

const STATUSES = { PENDING: 'PENDING', CONFIRMED: 'CONFIRMED', DECLINED: 'DECLINED' } as const;

type Rows = NonNullable<SourceOf<'table'>[TableName]>;

export const table: AffiliateNetwork<'table'> = { openFeeds };

function openFeeds(source: SourceOf<'table'>): NetworkFeeds {
  const { transactions, retailers, offers, coupons, promotions, timeZone } = source;
  const feed = (name: string, rows: Rows | undefined, read: (cells: Cells) => CatalogueFact) =>
    rows && {
      [name]: {
        shape: shapeOf(rows),
        readFacts: (row: Fields) => read(new Cells(row, rows.fields, timeZone)),
      },
    };
  return {
    transactions: transactions && {
      shape: shapeOf(transactions),
      readSale: (row) => readSale(new Cells(row, transactions.fields, timeZone)),
    },
    catalogue: {
      ...feed('retailers', retailers, readRetailer),
      ...feed('offers', offers, readOffer),
      ...feed('coupons', coupons, (cells) => ({
        kind: 'coupon',
        ...readDeal(cells),
        code: cells.text('code'),
      })),
      ...feed('promotions', promotions, (cells) => ({
        kind: 'promotion',
        ...readDeal(cells),
        deepLink: cells.findText('deepLink'),
      })),
    },
  };
}

function shapeOf(rows: Rows): FeedShape {
  const columns = Object.values(rows.fields).flatMap((cell) => cell?.column ?? []);
  return {
    json: rows.list === undefined ? [] : [rows.list],
    csv: { columns: [...new Set(columns)], separator: rows.separator },
  };
}

/** The cells of one row, keyed by our field names. Problems are reported with the column name. */
class Cells extends Fields {
  readonly #row: Fields;
  readonly #mapping: Mapping;

  constructor(row: Fields, mapping: Mapping, zone: string) {
    super(undefined, zone, row.problems);
    this.#row = row;
    this.#mapping = mapping;
  }

  override has(name: string): boolean {
    const column = this.#mapping[name]?.column;
    return column !== undefined && this.#row.has(column);
  }

  override findText(name: string): string | undefined {
    const cell = this.#mapping[name];
    if (cell === undefined) return undefined;
    const raw = cell.column === undefined ? cell.constant : this.#row.findText(cell.column);
    const text = cell.trim === true ? raw?.trim() : raw;
    const shown = (cell.lower === true ? text?.toLowerCase() : text) || undefined;
    return shown === undefined || cell.words === undefined ? shown : this.translate(name, shown, cell.words);
  }

  override findAmount(name: string): Amount | undefined {
    const cell = this.#mapping[name];
    const amount = super.findAmount(name, cell?.number === 'comma' ? parseCommaAmount : parseAmount);
    return amount === undefined || cell?.percent !== true ? amount : ofPercent(amount);
  }

  override findTime(name: string, read: TimeReader = parseTime): Timestamp | undefined {
    const { date, timeZone } = this.#mapping[name] ?? {};
    return super.findTime(name, (text, zone) => {
      const reader = date === undefined ? read : patternReader(date, read);
      return reader(text, timeZone ?? zone);
    });
  }

  findCountries(name: string): readonly string[] | undefined {
    return this.findText(name)
      ?.split(/[\s,;|]+/)
      .filter((code) => code !== '');
  }

  override fail(name: string, reason: string): void {
    this.#row.fail(this.#mapping[name]?.column ?? name, reason);
  }
}

function readSale(cells: Cells): Sale {
  return {
    changedAt: cells.findTime('modifiedAt'),
    id: cells.text('id'),
    advertiserId: cells.text('advertiserId'),
    status: cells.meaning('status', STATUSES) ?? 'PENDING',
    country: cells.findText('country'),
    clickedAt: cells.findTime('clickedAt'),
    soldAt: cells.time('soldAt'),
    currency: cells.text('currency'),
    orderValue: cells.amount('orderValue'),
    commissions: [{ amount: cells.amount('commission'), group: cells.findText('group') }],
    subId: cells.findText('subId'),
    subData: cells.findText('subData'),
    offerId: cells.findText('offerId'),
    couponCode: cells.findText('couponCode'),
  };
}

function readRetailer(cells: Cells): CatalogueFact {
  return {
    kind: 'retailer',
    advertiserId: cells.text('id'),
    name: cells.text('name'),
    url: cells.text('url'),
    domains: cells.findText('domains')?.split(/[\s,]+/),
    logo: cells.findText('logo'),
    countries: cells.findCountries('countries'),
  };
}

function readOffer(cells: Cells): CatalogueFact {
  return {
    kind: 'offer',
    advertiserId: cells.text('retailerId'),
    id: cells.text('id'),
    rate: readRate(cells),
    description: cells.findText('description') ?? '',
    category: cells.findText('category'),
    countries: cells.findCountries('countries'),
    terms: cells.findText('terms'),
  };
}

/** A fixed amount takes precedence over a rate. */
function readRate(cells: Cells): Rate {
  const fixed = cells.findAmount('fixed');
  if (fixed !== undefined) return { fixed, currency: cells.findText('currency') };
  return { fraction: cells.amount('rate') };
}

function readDeal(cells: Cells) {
  return {
    advertiserId: cells.text('retailerId'),
    id: cells.text('id'),
    description: cells.findText('description') ?? '',
    startDate: cells.findTime('startDate'),
    endDate: cells.findTime('endDate', parseEnd),
  };
}
