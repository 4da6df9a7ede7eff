// Partnerize: one row per conversion, which contains its items. A conversion with items of different statuses is confirmed
// with the sum of its approved items.

import { isZero, ofPercent, sum, ZERO } from '@offerbook/wire/amount.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import { type CatalogueFact, leftOut, type Rate, type RowFacts, readSeparately } from '../catalogue/facts.ts';
import { plainText } from '../catalogue/texts.ts';
import type { Fields } from '../fields.ts';
import type { FeedFormat, FeedShape, PageInfo } from '../formats/feed-row.ts';
import type { AffiliateNetwork, NetworkFeeds, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import { parseEnd } from '../zoned-time.ts';
import { pullCatalogue, pullSales } from './partnerize-pull.ts';

export const partnerize: AffiliateNetwork<'partnerize'> = { openFeeds, pullSales, pullCatalogue };

const PARTNERIZE = {
  statuses: { pending: 'PENDING', approved: 'CONFIRMED', rejected: 'DECLINED' },
  /** B. Status of a conversion whose items have different statuses. */
  mixed: 'mixed',
  /** Fields of a conversion in the JSON report and in the CSV export, which lacks the publisher reference and the items. */
  conversion: {
    id: ['conversion_data.conversion_id', 'conversion_id'],
    campaignId: ['conversion_data.campaign_id', 'campaign_id'],
    status: ['conversion_data.conversion_value.conversion_status', 'conversion_status'],
    country: ['conversion_data.country', 'country'],
    clickedAt: ['conversion_data.click.set_time', 'click_date_time'],
    soldAt: ['conversion_data.conversion_time', 'conversion_date_time'],
    currency: ['conversion_data.currency', 'currency'],
    value: ['conversion_data.conversion_value.value', 'value'],
    commission: ['conversion_data.conversion_value.publisher_commission', 'publisher_commission'],
    subId: ['conversion_data.publisher_reference', undefined],
    items: ['conversion_data.conversion_items', undefined],
    modifiedAt: ['conversion_data.last_modified', undefined],
  },
  defaultRate: {
    percent: 'campaign.default_commission_rate',
    fixed: 'campaign.default_commission_value',
  },
  approvedCampaigns: ['a'],
  activeVouchers: ['y'],
  rateModels: { percentage_cpa: 'fraction', fixed_cpa: 'fixed', cpc: 'click' },
} as const;

function openFeeds(source: SourceOf<'partnerize'>): NetworkFeeds {
  const shape = (list: string): FeedShape => ({ json: [[list]], readPageInfo });
  // The CSV export has no publisher reference, so it cannot identify a click or an organisation.
  const columns = Object.values(PARTNERIZE.conversion).flatMap(([, name]) => name ?? []);
  const csv = source.subId === 'uid' ? { csv: { columns } } : {};
  return {
    transactions: {
      shape: { ...shape('conversions'), ...csv },
      readSale,
      csvNote: 'The CSV export has no publisher reference, so the sales have no passbackUid.',
    },
    catalogue: {
      campaigns: { shape: shape('campaigns'), readFacts: readCampaign },
      commissions: {
        shape: shape('active_commissions'),
        advertiser: 'needed',
        readFacts: readCommission,
      },
      vouchers: { shape: shape('voucher_codes'), advertiser: 'optional', readFacts: readVoucher },
    },
  };
}

/** Version 1 of the API has no page information. */
function readPageInfo(response: Fields): PageInfo {
  if (response.has('error')) {
    const message = response.find('error.message');
    return { error: typeof message === 'string' ? message : 'no details' };
  }
  const pages = 'hypermedia.pagination';
  return response.has(pages) ? { hasMore: response.has(`${pages}.next_page`) } : {};
}

function readSale(row: Fields, format: FeedFormat): Sale {
  const fields = PARTNERIZE.conversion;
  const at = format === 'CSV' ? 1 : 0;
  const { status, value, commission } = readStatus(row, at);
  const [modifiedAt, subId] = [fields.modifiedAt[at], fields.subId[at]];
  return {
    changedAt: modifiedAt && row.findTime(modifiedAt),
    id: row.text(fields.id[at]),
    advertiserId: row.text(fields.campaignId[at]),
    status,
    country: row.findText(fields.country[at]),
    clickedAt: row.findTime(fields.clickedAt[at]),
    soldAt: row.time(fields.soldAt[at]),
    currency: row.text(fields.currency[at]),
    orderValue: value,
    commissions: [{ amount: commission }],
    subId: subId && row.findText(subId),
  };
}

/** `at` selects the names of the fields: 0 for JSON, 1 for CSV. */
function readStatus(row: Fields, at: 0 | 1): Item {
  const fields = PARTNERIZE.conversion;
  const [statusField, itemsField] = [fields.status[at], fields.items[at]];
  const items = itemsField === undefined ? [] : row.list(itemsField).map(readItem);
  const amounts = { value: row.amount(fields.value[at]), commission: row.amount(fields.commission[at]) };
  if (row.findText(statusField) === PARTNERIZE.mixed) {
    if (items.length === 0) row.fail(statusField, 'is "mixed", but there are no items');
    return joinItems(items);
  }
  const status = row.meaning(statusField, PARTNERIZE.statuses) ?? 'PENDING';
  const isEmptied = status === 'DECLINED' && isZero(amounts.value) && isZero(amounts.commission);
  return isEmptied ? { status, ...total(items) } : { status, ...amounts };
}

/** Sums the approved items or, if there are none, the pending ones. If all items are declined, so is the conversion. */
function joinItems(items: readonly Item[]): Item {
  for (const status of ['CONFIRMED', 'PENDING'] as const) {
    const matching = items.filter((item) => item.status === status);
    if (matching.length > 0) return { status, ...total(matching) };
  }
  return { status: 'DECLINED', ...total(items) };
}

type Item = ReturnType<typeof readItem>;

function readItem(item: Fields) {
  return {
    status: item.meaning<Status>('item_status', PARTNERIZE.statuses) ?? 'PENDING',
    value: item.amount('item_value'),
    commission: item.amount('item_publisher_commission'),
  };
}

function total(items: readonly Item[]) {
  return {
    value: sum(items.map((item) => item.value)),
    commission: sum(items.map((item) => item.commission)),
  };
}

function readCampaign(row: Fields): RowFacts {
  if (row.isOther('campaign.publisher_status', PARTNERIZE.approvedCampaigns)) {
    return leftOut('campaigns that have not approved you');
  }
  const advertiserId = row.text('campaign.campaign_id');
  const currency = row.findText('campaign.default_currency');
  const retailer: CatalogueFact = {
    kind: 'retailer',
    advertiserId,
    name: row.text('campaign.title'),
    url: row.text('campaign.destination_url'),
    logo: row.findText('campaign.campaign_logo'),
    category: row.findText('campaign.vertical_name'),
    terms: plainText(row.findText('campaign.terms.en.terms') ?? ''),
    currency,
  };
  const { percent, fixed } = PARTNERIZE.defaultRate;
  if (!row.has(percent) && !row.has(fixed)) return [retailer];
  const id = `default:${advertiserId}`;
  const standard = readSeparately([row], (fields) => {
    const rate = readDefaultRate(fields, currency);
    return { kind: 'offer', advertiserId, id, rate, description: '', isFallback: true };
  });
  return [retailer, ...standard];
}

/** If the campaign has a percentage and a fixed rate, returns the percentage unless only the fixed rate is non-zero. */
function readDefaultRate(row: Fields, currency: string | undefined): Rate {
  const names = PARTNERIZE.defaultRate;
  const [percent, fixed] = [row.findAmount(names.percent), row.findAmount(names.fixed)];
  const isFixed = fixed !== undefined && (percent === undefined || (isZero(percent) && !isZero(fixed)));
  return isFixed ? { fixed, currency } : { fraction: ofPercent(percent ?? ZERO) };
}

function readCommission(row: Fields, campaignId: string | undefined): CatalogueFact[] {
  const id = row.text('id');
  return readSeparately(row.list('rates'), (rate, index) => {
    const model = rate.meaning('performance_model', PARTNERIZE.rateModels);
    if (model === 'click') return leftOut('rates for clicks');
    const value = rate.amount('performance_value');
    return {
      kind: 'offer',
      advertiserId: campaignId ?? '',
      id: `${id}:${rate.findText('id') ?? index}`,
      group: id,
      rate: model === 'fixed' ? { fixed: value, currency: undefined } : { fraction: ofPercent(value) },
      description: row.findText('description') ?? '',
    };
  });
}

function readVoucher(row: Fields, campaignId: string | undefined): CatalogueFact {
  if (row.isOther('voucher_code.active', PARTNERIZE.activeVouchers)) {
    return leftOut('vouchers that are not active');
  }
  return {
    kind: 'coupon',
    advertiserId: campaignId ?? row.text('voucher_code.campaign_id'),
    id: row.text('voucher_code.voucher_code_id'),
    code: row.text('voucher_code.voucher_code'),
    description: row.findText('voucher_code.description') ?? '',
    startDate: row.findTime('voucher_code.start_date_time'),
    endDate: row.findTime('voucher_code.end_date_time', parseEnd),
  };
}
