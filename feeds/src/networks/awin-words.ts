// What Awin's words mean, and where its answers differ from one account or year to the next.
// They are from the network's own documents, but for those marked B or C: see "Corrections" in docs/feeds.md.

export const AWIN = {
  statuses: {
    pending: 'PENDING',
    approved: 'CONFIRMED',
    declined: 'DECLINED',
    deleted: 'DECLINED',
  },
  /** C. Error answers, as seen live. */
  error: { code: 'error', words: 'description' },
  /** B. */
  joined: ['joined', 'Joined'],
  /** B. Regions that are no countries: programmes of Brazil that pay in US dollars. */
  regions: new Map([['BU', 'BR']]),
  rateTypes: { percentage: 'fraction', fix: 'fixed' },
  /** B. The list in the answer to a question for offers: `data` is read by programs, `offers` only stood in a test. */
  offerLists: [['data'], ['offers']],
  /** B. */
  offerTypes: { voucher: 'coupon', promotion: 'promotion' },
  /** B. Fields of an offer, in the API's JSON and in the CSV export of the user interface. */
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
  /** B. Times of an offer; the pattern is that of the CSV export. */
  offerTimes: { pattern: 'DD/MM/YYYY HH:mm:ss', zone: 'UTC' },
} as const;
