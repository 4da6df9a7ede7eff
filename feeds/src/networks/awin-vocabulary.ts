// Awin's terms and field names, with the variants seen across accounts and years. Entries marked B or C are not from the
// network's documentation: see "Corrections" in docs/feeds.md.

export const AWIN = {
  statuses: {
    pending: 'PENDING',
    approved: 'CONFIRMED',
    declined: 'DECLINED',
    deleted: 'DECLINED',
  },
  /** C. Fields of error responses, as seen in practice. */
  error: { code: 'error', message: 'description' },
  /** B. */
  joined: ['joined', 'Joined'],
  /** B. Regions that are not countries: Brazilian programmes that pay in US dollars. */
  regions: new Map([['BU', 'BR']]),
  rateTypes: { percentage: 'fraction', fix: 'fixed' },
  /** B. Fields that can contain the offer list. Third-party clients read `data`; `offers` is only in a client's test. */
  offerLists: [['data'], ['offers']],
  /** B for the API's values, C for those in the CSV export. */
  offerTypes: {
    voucher: 'coupon',
    promotion: 'promotion',
    Voucher: 'coupon',
    Vouchers: 'coupon',
    Promotion: 'promotion',
    Promotions: 'promotion',
  },
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
  /** B. Offer times are in this zone; the pattern applies to the CSV export. */
  offerTimes: { pattern: 'DD/MM/YYYY HH:mm:ss', zone: 'UTC' },
} as const;
