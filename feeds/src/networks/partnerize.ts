// Partnerize: one row per conversion, which contains its items. A conversion with mixed item statuses is confirmed with the sum
// of its approved items.

import { type Amount, isZero, ofPercent, sum, ZERO } from '@offerbook/wire/amount.ts';
import { isObject } from '@offerbook/wire/rows/raw-row.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { Status } from '@offerbook/wire/transaction.ts';
import { type CatalogueFact, leftOut, type Rate, readApart } from '../catalogue/facts.ts';
import { plainText } from '../catalogue/texts.ts';
import { Fields } from '../fields.ts';
import type { FeedFormat, PageNote } from '../formats/feed-row.ts';
import type { Network, Sale } from '../network.ts';
import type { SourceOf } from '../source/source-file.ts';
import { parseEnd } from '../zoned-time.ts';
import { PARTNERIZE } from './partnerize-words.ts';

type Names = (typeof PARTNERIZE.conversion)['JSON' | 'CSV'];

export function partnerize(source: SourceOf<'partnerize'>): Network {
  const columns = Object.values(PARTNERIZE.conversion.CSV).filter((name) => name !== undefined);
  // CSV has no publisher reference, so sub-ids with a click or an organisation are not available.
  const csv = source.subId === 'uid' ? { csv: { columns } } : {};
  return {
    transactions: {
      shape: { json: [['conversions']], explain: explainAnswer, ...csv },
      idField: (format) => namesIn(format).id,
      readSale: (row, format) => readSale(row, namesIn(format)),
      formatNotes: {
        CSV: 'The CSV export has no publisher reference, so no sale has a passbackUid.',
      },
    },
    catalogue: {
      campaigns: { shape: { json: [['campaigns']], explain: explainAnswer }, readFacts: readCampaign },
      commissions: {
        shape: { json: [['active_commissions']], explain: explainAnswer },
        advertiser: 'needed',
        readFacts: readCommission,
      },
      vouchers: {
        shape: { json: [['voucher_codes']], explain: explainAnswer },
        advertiser: 'optional',
        readFacts: readVoucher,
      },
    },
  };
}

function explainAnswer(answer: Record<string, unknown>): PageNote {
  const error = answer[PARTNERIZE.error];
  if (error !== undefined) {
    return { error: isObject(error) && typeof error.message === 'string' ? error.message : 'no details' };
  }
  const { pages, next } = PARTNERIZE.paging;
  const fields = new Fields(answer);
  return fields.has(pages) ? { hasMore: fields.has(`${pages}.${next}`) } : {};
}

function namesIn(format: FeedFormat): Names {
  return PARTNERIZE.conversion[format === 'CSV' ? 'CSV' : 'JSON'];
}

interface Amounts {
  readonly value: Amount;
  readonly commission: Amount;
}

interface Verdict extends Amounts {
  readonly status: Status;
}

function readSale(row: Fields, names: Names): Sale {
  const { status, value, commission } = judge(row, names);
  const changedAt = names.modifiedAt === undefined ? undefined : row.findTime(names.modifiedAt);
  return {
    version: changedAt && timestampMs(changedAt),
    changedAt,
    id: row.text(names.id),
    advertiserId: row.text(names.campaignId),
    status,
    country: row.findText(names.country),
    clickedAt: row.findTime(names.clickedAt),
    soldAt: row.time(names.soldAt),
    currency: row.text(names.currency),
    orderValue: value,
    commissions: [{ amount: commission }],
    subId: names.subId === undefined ? undefined : row.findText(names.subId),
  };
}

function judge(row: Fields, names: Names): Verdict {
  const items = names.items === undefined ? [] : row.list(names.items).map(readItem);
  const told = { value: row.amount(names.value), commission: row.amount(names.commission) };
  if (row.findText(names.status) === PARTNERIZE.mixed) {
    if (items.length === 0) row.fail(names.status, 'is "mixed", but no items show what was approved');
    return judgeItems(items);
  }
  const status = row.word(names.status, PARTNERIZE.statuses) ?? 'PENDING';
  const isHollow = status === 'DECLINED' && isZero(told.value) && isZero(told.commission);
  return isHollow ? { status, ...total(items) } : { status, ...told };
}

/** Sums the approved items; if there are none, the pending items. If all items are declined, the conversion is declined. */
function judgeItems(items: readonly Verdict[]): Verdict {
  for (const status of ['CONFIRMED', 'PENDING'] as const) {
    const some = items.filter((item) => item.status === status);
    if (some.length > 0) return { status, ...total(some) };
  }
  return { status: 'DECLINED', ...total(items) };
}

function readItem(item: Fields): Verdict {
  return {
    status: item.word('item_status', PARTNERIZE.statuses) ?? 'PENDING',
    value: item.amount('item_value'),
    commission: item.amount('item_publisher_commission'),
  };
}

function total(items: readonly Verdict[]): Amounts {
  return {
    value: sum(items.map((item) => item.value)),
    commission: sum(items.map((item) => item.commission)),
  };
}

function readCampaign(row: Fields): CatalogueFact[] {
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
  const standard = readApart([row], (alone) => {
    const rate = readDefaultRate(alone, currency);
    return [{ kind: 'offer', advertiserId, id, rate, description: '', isFallback: true }];
  });
  return [retailer, ...standard];
}

/** If both rates are given, the one that is not 0. */
function readDefaultRate(row: Fields, currency: string | undefined): Rate {
  const names = PARTNERIZE.defaultRate;
  const [percent, fixed] = [row.findAmount(names.percent), row.findAmount(names.fixed)];
  const isFixed = fixed !== undefined && (percent === undefined || (isZero(percent) && !isZero(fixed)));
  return isFixed ? { fixed, currency } : { fraction: ofPercent(percent ?? ZERO) };
}

function readCommission(row: Fields, campaignId: string | undefined): CatalogueFact[] {
  const id = row.text('id');
  return readApart(row.list('rates'), (rate, index) => {
    const model = rate.word('performance_model', PARTNERIZE.rateModels);
    if (model === 'click') return leftOut('rates for clicks');
    const value = rate.amount('performance_value');
    return [
      {
        kind: 'offer',
        advertiserId: campaignId ?? '',
        id: `${id}:${rate.findText('id') ?? index}`,
        group: id,
        rate: model === 'fixed' ? { fixed: value, currency: undefined } : { fraction: ofPercent(value) },
        description: row.findText('description') ?? '',
      },
    ];
  });
}

function readVoucher(row: Fields, campaignId: string | undefined): CatalogueFact[] {
  if (row.isOther('voucher_code.active', PARTNERIZE.activeVouchers)) {
    return leftOut('vouchers that are not active');
  }
  return [
    {
      kind: 'coupon',
      advertiserId: campaignId ?? row.text('voucher_code.campaign_id'),
      id: row.text('voucher_code.voucher_code_id'),
      code: row.text('voucher_code.voucher_code'),
      description: row.findText('voucher_code.description') ?? '',
      startDate: row.findTime('voucher_code.start_date_time'),
      endDate: row.findTime('voucher_code.end_date_time', parseEnd),
    },
  ];
}
