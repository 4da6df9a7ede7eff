// What Awin's words mean, and where its answers differ from one account or year to the next.

import { fact } from './fact.ts';

export const AWIN = {
  statuses: fact('A', {
    pending: 'PENDING',
    approved: 'CONFIRMED',
    declined: 'DECLINED',
    deleted: 'DECLINED',
  }),
  /** Error answers, as seen live. */
  error: fact('C', { code: 'error', words: 'description' }),
  membership: fact('B', { joined: true, Joined: true }),
  /** Regions that are no countries: programmes of Brazil that pay in US dollars. */
  regions: fact('B', { BU: 'BR' }),
  rateTypes: fact('A', { percentage: 'fraction', fix: 'fixed' }),
  /** The list in the answer to a question for offers: `data` is read by programs, `offers` only stood in a test. */
  offerLists: fact('B', [['data'], ['offers']]),
  offerTypes: fact('B', { voucher: 'coupon', promotion: 'promotion' }),
  /** Fields of an offer, in the API's JSON and in the CSV export of the user interface. */
  offer: fact('B', {
    JSON: {
      id: 'promotionId',
      advertiserId: 'advertiser.id',
      type: 'type',
      code: 'voucher.code',
      title: 'title',
      description: 'description',
      start: 'startDate',
      end: 'endDate',
      link: 'url',
    },
    CSV: {
      id: 'Promotion ID',
      advertiserId: 'Advertiser ID',
      type: 'Type',
      code: 'Code',
      title: 'Title',
      description: 'Description',
      start: 'Starts',
      end: 'Ends',
      link: 'Deeplink',
    },
  }),
  csvOfferTypes: fact('C', {
    Voucher: 'coupon',
    Vouchers: 'coupon',
    voucher: 'coupon',
    Promotion: 'promotion',
    Promotions: 'promotion',
    promotion: 'promotion',
  }),
  csvTimes: fact('B', { pattern: 'DD/MM/YYYY HH:mm:ss', zone: 'UTC' }),
} as const;
