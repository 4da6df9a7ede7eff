// impact.com, partner API version 16: one row per action, with a state. A reversed action has no amounts; its original
// amounts are in other fields.

import { type Amount, isZero, ofPercent } from '@offerbook/wire/amount.ts';
import { type CatalogueFact, leftOut, type Rate, type RowFacts, readSeparately } from '../catalogue/facts.ts';
import { joinTexts, plainText } from '../catalogue/texts.ts';
import { type Fields, quote } from '../fields.ts';
import type { FeedShape, PageInfo } from '../formats/feed-row.ts';
import { parseEitherMark } from '../localised-amount.ts';
import type { AffiliateNetwork, NetworkFeeds, Sale } from '../network.ts';
import { parseEnd } from '../zoned-time.ts';
import { pullCatalogue, pullSales } from './impact-pull.ts';

export const impact: AffiliateNetwork<'impact'> = { openFeeds, pullSales, pullCatalogue };

/** Shipping regions: impact.com's own names, each followed by its ISO 3166-1 code. */
const REGIONS = `US US UK GB CANADA CA AUSTRALIA AU GERMANY DE FRANCE FR AFGHANISTAN AF ALBANIA AL ALGERIA DZ AMERICANSAMOA AS
    ANDORRA AD ANGOLA AO ANGUILLA AI ANTARCTICA AQ ANTIGUABARBUDA AG ARGENTINA AR ARMENIA AM ARUBA AW AUSTRIA AT
    AZERBAIJAN AZ BAHAMAS BS BAHRAIN BH BANGLADESH BD BARBADOS BB BELARUS BY BELGIUM BE BELIZE BZ BENIN BJ BERMUDA BM
    BHUTAN BT BOLIVIA BO BOSNIAHERZEGOVINA BA BOTSWANA BW BRAZIL BR BRITISHINDIANOCEANTERRITORY IO BRUNEIDARUSSALAM BN
    BULGARIA BG BURKINAFASO BF BURUNDI BI CAMBODIA KH CAMEROON CM CAPVERDE CV CAYMANISLANDS KY CENTRALAFRICANREPUBLIC CF
    CHAD TD CHILE CL CHINA CN CHRISTMASISLAND CX COCOSISLANDS CC COLOMBIA CO COMOROS KM CONGO CG DEMOCRATICREPUBLICCONGO CD
    COOKISLANDS CK COSTARICA CR IVORYCOAST CI CROATIA HR CUBA CU CYPRUS CY CZECHREPUBLIC CZ DENMARK DK DIJIBOUTI DJ
    DOMINICA DM DOMINICANREPUBLIC DO ECUADOR EC EGYPT EG ELSALVADOR SV EQUATORIALGUINEA GQ ERITREA ER ESTONIA EE ETHIOPIA ET
    FALKLANDISLANDS FK FAROEISLANDS FO FIJI FJ FINLAND FI FRENCHGUIANA GF FRENCHPOLYNESIA PF FRENCHSOUTHERNTERRITORIES TF
    GABON GA GAMBIA GM GEORGIA GE GHANA GH GIBRALTAR GI GREECE GR GREENLAND GL GRENADA GD GUADELOUPE GP GUAM GU
    GUATEMALA GT GUERNSEY GG GUINEA GN GUINEABISSAU GW GUYANA GY HAITI HT VATICAN VA HONDURAS HN HONGKONG HK HUNGARY HU
    ICELAND IS INDIA IN INDONESIA ID IRAN IR IRAQ IQ IRELAND IE ISRAEL IL ITALY IT JAMAICA JM JAPAN JP JORDAN JO
    KAZAKHSTAN KZ KENYA KE KIRIBATI KI SOUTHKOREA KR KUWAIT KW KYRGYZSTAN KG LAOS LA LATVIA LV LEBANON LB LESOTHO LS
    LIBERIA LR LIBYA LY LICHTENSTEIN LI LITHUANIA LT LUXEMBOURG LU MACAO MO MACEDONIA MK MADAGASCAR MG MALAWI MW
    MALAYSIA MY MALDIVES MV MALI ML MALTA MT MARSHALLISLANDS MH MARTINIQUE MQ MAURITANIA MR MAURITIUS MU MAYOTTE YT
    MEXICO MX MICRONESIA FM MOLDOVA MD MONACO MC MONGOLIA MN MONTENEGRO ME MONTSERRAT MS MOROCCO MA MOZAMBIQUE MZ
    MYANMAR MM NAMIBIA NA NAURU NR NEPAL NP NETHERLANDS NL NEWCALEDONIA NC NEWZEALAND NZ NICARAGUA NI NIGER NE NIGERIA NG
    NIUE NU NORFOLKISLAND NF NORTHKOREA KP NORTHERNMARIANAISLANDS MP NORWAY NO OMAN OM PAKISTAN PK PALAU PW
    PALESTINIANTERRITORY PS PANAMA PA PAPUANEWGUINEA PG PARAGUAY PY PERU PE PHILIPPINES PH PITCAIRN PN POLAND PL
    PORTUGAL PT PUERTORICO PR QATAR QA REUNION RE ROMANIA RO RUSSIA RU RWANDA RW SAINTHELENA SH SAINTKITTSNEVIS KN
    SAINTLUCIA LC SAINTPIERREMIQUELON PM SAINTVINCENTGRENADINES VC SAMOA WS SANMARINO SM SAOTOME ST SAUDIARABIA SA
    SENEGAL SN SEYCHELLES SC SIERRALEONE SL SINGAPORE SG SLOVAKIA SK SLOVENIA SI SOLOMONISLANDS SB SOMALIA SO
    SOUTHAFRICA ZA SPAIN ES SRILANKA LK SUDAN SD SURINAME SR SVALBARDJANMAYEN SJ SWAZILAND SZ SWEDEN SE SWITZERLAND CH
    SYRIA SY TAIWAN TW TAJIKISTAN TJ TANZANIA TZ THAILAND TH TIMOR TL TOGO TG TOKELAU TK TONGA TO TRINIDADTOBAGO TT
    TUNISIA TN TURKEY TR TURKMENISTAN TM TURKSCAICOSISLANDS TC TUVALU TV UGANDA UG UKRAINE UA UAE AE URUGUAY UY
    UZBEKISTAN UZ VANUATU VU VENEZUELA VE VIETNAM VN BRITISHVIRGINISLANDS VG USVIRGINISLANDS VI WALLISFUTUNA WF
    WESTERNSAHARA EH YEMEN YE ZAMBIA ZM ZIMBABWE ZW`;

const IMPACT = {
  /** All states of version 16. Older versions had DEFAULT, REJECTED, LOCKED and PAID, which are no longer documented. */
  states: { PENDING: 'PENDING', APPROVED: 'CONFIRMED', REVERSED: 'DECLINED' },
  /** B. Some accounts write amounts with a decimal comma. */
  amounts: parseEitherMark,
  /** Category of payouts for purchases. */
  saleCategory: 'SALE',
  activeContracts: ['ACTIVE'],
  activeCampaigns: ['Active'],
  expiredDeal: 'EXPIRED',
  /** Match mode of codes that are regular expressions, which cannot be entered at a checkout. */
  patternCode: 'RE',
  regions: new Map(REGIONS.matchAll(/(\w+)\s+(\w+)/g).map(([, name = '', code = '']) => [name, code])),
  /** Former countries, which no longer have a code. */
  formerRegions: new Set(['NETHERLANDSANTILLES', 'YOGOSLAVIA']),
} as const;

function openFeeds(): NetworkFeeds {
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
  const total = response.findWholeNumber('@total');
  if (page === undefined) return { total };
  return {
    // Deals are requested by campaign. The campaign is in the path; the query differs between pages.
    request: response.findText('@uri')?.replace(/\?.*/s, ''),
    page,
    hasMore: response.has('@nextpageuri'),
    total,
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

function readCampaign(row: Fields): CatalogueFact {
  if (row.isOther('ContractStatus', IMPACT.activeCampaigns)) {
    return leftOut('campaigns without an active contract');
  }
  const regions = row.list('ShippingRegions').map((region) => region.text(''));
  const current = regions.filter((region) => !IMPACT.formerRegions.has(region));
  for (const region of current.filter((name) => !IMPACT.regions.has(name))) {
    row.fail('ShippingRegions', `has an unknown region: ${quote(region)}`);
  }
  const countries = current.flatMap((region) => IMPACT.regions.get(region) ?? []);
  return {
    kind: 'retailer',
    advertiserId: row.text('CampaignId'),
    name: row.text('CampaignName'),
    url: row.findText('CampaignUrl') ?? row.text('AdvertiserUrl'),
    countries: countries.length === 0 ? undefined : countries,
  };
}

function readContract(row: Fields): RowFacts {
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
    return {
      kind: 'offer',
      advertiserId,
      id,
      rate: readRate(payout, currency),
      description: payout.findText('EventTypeName') ?? '',
      terms: terms.filter((text) => text !== '').join('\n'),
    };
  });
}

function readRate(payout: Fields, currency: string | undefined): Rate {
  const fixed = payout.findAmount('DefaultPayout', IMPACT.amounts);
  if (fixed === undefined) return { fraction: ofPercent(payout.amount('DefaultPayoutRate', IMPACT.amounts)) };
  const percent = payout.findAmount('DefaultPayoutRate', IMPACT.amounts);
  return percent === undefined || isZero(percent) ? { fixed, currency } : { fraction: ofPercent(percent) };
}

function readPromoCode(row: Fields): CatalogueFact {
  if (row.findText('State') === IMPACT.expiredDeal) return leftOut('deals and codes that have expired');
  if (row.findText('MatchMode') === IMPACT.patternCode) return leftOut('codes that are regular expressions');
  return {
    kind: 'coupon',
    advertiserId: row.text('Program.Id'),
    id: row.text('Id'),
    code: row.text('Code'),
    description: row.findText('Deal.Name') ?? '',
    startDate: row.findTime('StartDate'),
    endDate: row.findTime('EndDate', parseEnd),
  };
}

function readDeal(row: Fields): CatalogueFact {
  if (row.findText('State') === IMPACT.expiredDeal) return leftOut('deals and codes that have expired');
  const deal = {
    advertiserId: row.text('CampaignId'),
    id: `deal ${row.text('Id')}`,
    description: joinTexts(row.findText('Name'), row.findText('Description')),
    startDate: row.findTime('StartDate'),
    endDate: row.findTime('EndDate', parseEnd),
  };
  const code = row.findText('DefaultPromoCode');
  if (code === undefined) return { kind: 'promotion', ...deal };
  // The list of promo codes can contain the same code with a different id.
  return { kind: 'coupon', ...deal, code, isFallback: true };
}
