// impact.com, partner API version 16: one row per action, with a state. A reversed action has no amounts; its original
// amounts are in other fields.

import { type Amount, isZero, ofPercent } from '@offerbook/wire/amount.ts';
import { type CatalogueFact, leftOut, type Rate, readSeparately } from '../catalogue/facts.ts';
import { joinTexts, plainText } from '../catalogue/texts.ts';
import { type Fields, quote } from '../fields.ts';
import type { FeedShape, PageInfo } from '../formats/feed-row.ts';
import type { Network, Sale } from '../network.ts';
import { parseEnd } from '../zoned-time.ts';
import { IMPACT } from './impact-vocabulary.ts';

export function impact(): Network {
  const shape = (list: string): FeedShape => ({ json: [[list]], readPageInfo });
  return {
    transactions: { shape: shape('Actions'), readSale },
    catalogue: {
      campaigns: { shape: shape('Campaigns'), readFacts: readCampaign },
      contracts: { shape: shape('Contracts'), readFacts: readContract },
      'promo-codes': { shape: shape('PromoCodes'), readFacts: readPromoCode },
      deals: { shape: shape('Deals'), readFacts: readDeal },
    },
  };
}

function readPageInfo(response: Fields): PageInfo {
  if (response.find('Status') === 'ERROR') return { error: response.findText('Message') ?? 'no details' };
  const page = response.findWholeNumber('@page');
  if (page === undefined) return {};
  return {
    // Deals are requested by campaign. The campaign is in the path; the query differs between pages.
    request: response.findText('@uri')?.replace(/\?.*/s, ''),
    page,
    hasMore: response.has('@nextpageuri'),
  };
}

function readSale(row: Fields): Sale {
  const status = row.meaning('State', IMPACT.states) ?? 'PENDING';
  const isDeclined = status === 'DECLINED';
  const tracker = row.findText('ActionTrackerId');
  return {
    id: row.text('Id'),
    advertiserId: row.text('CampaignId'),
    status,
    country: row.findText('CustomerCountry'),
    clickedAt: row.findTime('ReferringDate'),
    soldAt: row.time('EventDate'),
    currency: row.text('Currency'),
    orderValue: keptAmount(row, isDeclined, 'Amount', 'IntendedAmount'),
    commissions: [{ amount: keptAmount(row, isDeclined, 'Payout', 'IntendedPayout'), group: tracker }],
    subId: row.findText('SubId1'),
    subData: row.findText('SubId2'),
    // Contracts call the action tracker an event type.
    offerId: tracker,
    couponCode: row.findText('PromoCode'),
  };
}

/** Returns the intended amount of a reversed action. */
function keptAmount(row: Fields, isDeclined: boolean, field: string, intendedField: string): Amount {
  const amount = row.amount(field, IMPACT.amounts);
  const intended = isDeclined ? row.findAmount(intendedField, IMPACT.amounts) : undefined;
  return intended === undefined || isZero(intended) ? amount : intended;
}

function readCampaign(row: Fields): CatalogueFact[] {
  if (row.isOther('ContractStatus', IMPACT.activeCampaigns)) {
    return leftOut('campaigns without an active contract');
  }
  const regions = row.list('ShippingRegions').map((region) => region.text(''));
  const current = regions.filter((region) => !IMPACT.formerRegions.has(region));
  for (const region of current.filter((name) => !IMPACT.regions.has(name))) {
    row.fail('ShippingRegions', `has an unknown region: ${quote(region)}`);
  }
  const countries = current.flatMap((region) => IMPACT.regions.get(region) ?? []);
  return [
    {
      kind: 'retailer',
      advertiserId: row.text('CampaignId'),
      name: row.text('CampaignName'),
      url: row.findText('CampaignUrl') ?? row.text('AdvertiserUrl'),
      countries: countries.length === 0 ? undefined : countries,
    },
  ];
}

function readContract(row: Fields): CatalogueFact[] {
  if (row.isOther('Status', IMPACT.activeContracts)) return leftOut('contracts that are not active');
  const advertiserId = row.text('CampaignId');
  const currency = row.findText('Terms.Currency');
  const terms = row
    .list('Terms.SpecialTermsList')
    .map((term) => plainText(term.findText('TermsContent') ?? ''));
  return readSeparately(row.list('Terms.EventPayouts'), (payout) => {
    if (payout.text('EventCategory') !== IMPACT.saleCategory) {
      return leftOut('payouts for events other than purchases');
    }
    const id = payout.findText('EventTypeId') ?? `${advertiserId}:${payout.text('EventTypeName')}`;
    return [
      {
        kind: 'offer',
        advertiserId,
        id,
        rate: readRate(payout, currency),
        description: payout.findText('EventTypeName') ?? '',
        terms: terms.filter((text) => text !== '').join('\n'),
      },
    ];
  });
}

function readRate(payout: Fields, currency: string | undefined): Rate {
  const fixed = payout.findAmount('DefaultPayout', IMPACT.amounts);
  if (fixed === undefined) return { fraction: ofPercent(payout.amount('DefaultPayoutRate', IMPACT.amounts)) };
  const percent = payout.findAmount('DefaultPayoutRate', IMPACT.amounts);
  return percent === undefined || isZero(percent) ? { fixed, currency } : { fraction: ofPercent(percent) };
}

function readPromoCode(row: Fields): CatalogueFact[] {
  if (row.findText('State') === IMPACT.expiredDeal) return leftOut('deals and codes that have expired');
  if (row.findText('MatchMode') === IMPACT.patternCode) return leftOut('codes that are regular expressions');
  return [
    {
      kind: 'coupon',
      advertiserId: row.text('Program.Id'),
      id: row.text('Id'),
      code: row.text('Code'),
      description: row.findText('Deal.Name') ?? '',
      startDate: row.findTime('StartDate'),
      endDate: row.findTime('EndDate', parseEnd),
    },
  ];
}

function readDeal(row: Fields): CatalogueFact[] {
  if (row.findText('State') === IMPACT.expiredDeal) return leftOut('deals and codes that have expired');
  const deal = {
    advertiserId: row.text('CampaignId'),
    id: `deal ${row.text('Id')}`,
    description: joinTexts(row.findText('Name'), row.findText('Description')),
    startDate: row.findTime('StartDate'),
    endDate: row.findTime('EndDate', parseEnd),
  };
  const code = row.findText('DefaultPromoCode');
  if (code === undefined) return [{ kind: 'promotion', ...deal }];
  // The list of promo codes can contain the same code with a different id.
  return [{ kind: 'coupon', ...deal, code, isFallback: true }];
}
