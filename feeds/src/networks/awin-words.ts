// Meaning of Awin's words, and variants between accounts and years. From the network's documentation, except for entries
// marked B or C: see "Corrections" in docs/feeds.md.

export const AWIN = {
  statuses: {
    pending: 'PENDING',
    approved: 'CONFIRMED',
    declined: 'DECLINED',
    deleted: 'DECLINED',
  },
  /** C. Error responses, as seen in practice. */
  error: { code: 'error', words: 'description' },
  /** B. */
  joined: ['joined', 'Joined'],
  /** B. Regions that are not countries: Brazilian programmes that pay in US dollars. */
  regions: new Map([['BU', 'BR']]),
  rateTypes: { percentage: 'fraction', fix: 'fixed' },
  /** B. Name of the list of offers: existing programs read `data`; `offers` was only seen in a test. */
  offerLists: [['data'], ['offers']],
  /** B. */
  offerTypes: { voucher: 'coupon', promotion: 'promotion' },
  /** B. Fields of an offer in the API's JSON and in the CSV export of the user interface. */
  offer: {
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
  },
  /** C. */
  csvOfferTypes: {
    Voucher: 'coupon',
    Vouchers: 'coupon',
    voucher: 'coupon',
    Promotion: 'promotion',
    Promotions: 'promotion',
    promotion: 'promotion',
  },
  /** B. Times of an offer; the pattern applies to the CSV export. */
  offerTimes: { pattern: 'DD/MM/YYYY HH:mm:ss', zone: 'UTC' },
} as const;
