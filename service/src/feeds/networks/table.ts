// Tables of any kind, by the mapping in the source file: CSV, JSON or NDJSON, with one row for each thing.

import { timestampMs } from '../../domain/timestamp.ts';
import { STATUSES, type Status } from '../../domain/transaction.ts';
import { type Amount, ofPercent, parseAmount, parseCommaAmount, ZERO } from '../amount.ts';
import type { CatalogueFact, Rate } from '../catalogue/facts.ts';
import { type Fields, NO_TIME, quote } from '../fields.ts';
import type { FeedShape } from '../formats/feed-row.ts';
import type { CatalogueFeed, Network, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import type { Cell } from '../source/table-mapping.ts';
import { parseEnd, parseTime, patternReader } from '../zoned-time.ts';

type TableSource = SourceOf<'table'>;
type Mapping = Readonly<Record<string, Cell | undefined>>;

const STATUS_WORDS = Object.fromEntries(STATUSES.map((status) => [status, status])) as Record<Status, Status>;

export function table(source: TableSource): Network {
  const { transactions, retailers, offers, coupons, promotions } = source;
  const feed = (
    rows: { fields: Mapping; list?: string[] | undefined; separator?: string | undefined } | undefined,
    read: (cells: Cells) => CatalogueFact[],
  ): CatalogueFeed[] =>
    rows === undefined
      ? []
      : [{ shape: shapeOf(rows), readFacts: (row) => read(new Cells(row, rows.fields, source)) }];
  const feeds = {
    retailers: feed(retailers, readRetailer),
    offers: feed(offers, readOffer),
    coupons: feed(coupons, readCoupon),
    promotions: feed(promotions, readPromotion),
  };
  return {
    transactions: transactions && {
      shape: shapeOf(transactions),
      idField: () => transactions.fields.id.column ?? '',
      readSale: (row) => readSale(new Cells(row, transactions.fields, source)),
    },
    catalogue: Object.fromEntries(
      Object.entries(feeds).flatMap(([name, [only]]) => (only === undefined ? [] : [[name, only]])),
    ),
  };
}

function shapeOf(rows: {
  readonly fields: Mapping;
  readonly list?: readonly string[] | undefined;
  readonly separator?: string | undefined;
}): FeedShape {
  const columns = Object.values(rows.fields).flatMap((cell) => cell?.column ?? []);
  return {
    json: { lists: rows.list === undefined ? [] : [rows.list] },
    csv: { columns: [...new Set(columns)], separator: rows.separator },
  };
}

/** The cells of one row, by the names of our fields. Problems name the column. */
class Cells {
  readonly #row: Fields;
  readonly #mapping: Mapping;
  readonly #source: TableSource;

  constructor(row: Fields, mapping: Mapping, source: TableSource) {
    this.#row = row;
    this.#mapping = mapping;
    this.#source = source;
  }

  findText(name: string): string | undefined {
    const cell = this.#mapping[name];
    if (cell === undefined) return undefined;
    const raw = cell.column === undefined ? cell.constant : this.#row.findText(cell.column);
    const text = cell.trim === true ? raw?.trim() : raw;
    const shown = (cell.lower === true ? text?.toLowerCase() : text) || undefined;
    if (shown === undefined || cell.words === undefined) return shown;
    if (Object.hasOwn(cell.words, shown)) return cell.words[shown];
    this.#fail(name, `is ${quote(shown)}, which is none of ${Object.keys(cell.words).join(', ')}`);
    return undefined;
  }

  text(name: string): string {
    return this.findText(name) ?? this.#missing(name, '');
  }

  status(): Status {
    const text = this.text('status');
    if (Object.hasOwn(STATUS_WORDS, text)) return STATUS_WORDS[text as Status];
    if (text !== '') this.#fail('status', `is ${quote(text)}, which is none of ${STATUSES.join(', ')}`);
    return 'PENDING';
  }

  findAmount(name: string): Amount | undefined {
    const text = this.findText(name);
    if (text === undefined) return undefined;
    const cell = this.#mapping[name];
    const amount = cell?.number === 'comma' ? parseCommaAmount(text) : parseAmount(text);
    if (amount === undefined) this.#fail(name, `is ${quote(text)}, which is no decimal number`);
    return amount === undefined || cell?.percent !== true ? amount : ofPercent(amount);
  }

  amount(name: string): Amount {
    return this.findAmount(name) ?? this.#missing(name, ZERO);
  }

  findTime(name: string, read = parseTime) {
    const text = this.findText(name);
    if (text === undefined) return undefined;
    const cell = this.#mapping[name];
    const zone = cell?.timeZone ?? this.#source.timeZone;
    const time = cell?.date === undefined ? read(text, zone) : patternReader(cell.date, zone, read)(text);
    if (time === undefined) this.#fail(name, `is ${quote(text)}, which is no time that can be read`);
    return time;
  }

  time(name: string) {
    return this.findTime(name) ?? this.#missing(name, NO_TIME);
  }

  findCountries(name: string): readonly string[] | undefined {
    return this.findText(name)
      ?.split(/[\s,;|]+/)
      .filter((code) => code !== '');
  }

  #fail(name: string, reason: string): void {
    this.#row.fail(this.#mapping[name]?.column ?? name, reason);
  }

  #missing<Value>(name: string, standIn: Value): Value {
    const column = this.#mapping[name]?.column;
    if (column === undefined || !this.#row.has(column)) this.#fail(name, 'is missing');
    return standIn;
  }
}

function readSale(cells: Cells): Sale {
  const modifiedAt = cells.findTime('modifiedAt');
  return {
    id: cells.text('id'),
    advertiserId: cells.text('advertiserId'),
    status: cells.status(),
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
    version: modifiedAt === undefined ? undefined : timestampMs(modifiedAt),
  };
}

function readRetailer(cells: Cells): CatalogueFact[] {
  return [
    {
      kind: 'retailer',
      advertiserId: cells.text('id'),
      name: cells.text('name'),
      url: cells.text('url'),
      logo: cells.findText('logo'),
      countries: cells.findCountries('countries'),
    },
  ];
}

function readOffer(cells: Cells): CatalogueFact[] {
  return [
    {
      kind: 'offer',
      advertiserId: cells.text('retailerId'),
      id: cells.text('id'),
      rate: readRate(cells),
      description: cells.findText('description') ?? '',
      category: cells.findText('category'),
      countries: cells.findCountries('countries'),
      terms: cells.findText('terms'),
    },
  ];
}

/** A row has a fixed amount, or else a rate. */
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

function readCoupon(cells: Cells): CatalogueFact[] {
  return [{ kind: 'coupon', ...readDeal(cells), code: cells.text('code') }];
}

function readPromotion(cells: Cells): CatalogueFact[] {
  return [{ kind: 'promotion', ...readDeal(cells), deepLink: cells.findText('deepLink') }];
}
