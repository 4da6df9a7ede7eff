// Meaning of CJ's words, and our reading of what its documentation leaves open. From the network's documentation, except for
// entries marked B or C: see "Corrections" in docs/feeds.md.

export const CJ = {
  /** Statuses of an action, in order. A record advances through them in place. */
  actionStatuses: { new: 0, extended: 1, locked: 2, closed: 3 },
  /** A sale is confirmed from this status on. */
  confirmedFrom: 2,
  validationStatuses: { PENDING: 0, AUTOMATED: 1, ACCEPTED: 1, DECLINED: 2 },
  declined: 'DECLINED',
  /** Paging of commissions: an incomplete response continues after its greatest id. */
  paging: { isComplete: 'payloadComplete', lastId: 'maxCommissionId', id: 'commissionId' },
  /** Paging of the XML services. */
  xmlPaging: { page: '@page-number', count: '@records-returned', total: '@total-matched' },
  /** C. Error element of the XML services. */
  errorElement: 'error-message',
  joined: ['joined'],
  /** B. Rates are strings: `25.00%`, or a fixed amount with its currency. */
  percentRate: /^(\d+(?:\.\d+)?)\s*%$/,
  /** B. */
  fixedRate: /^(?:([A-Z]{3})\s*)?\$?(\d+(?:\.\d+)?)(?:\s*([A-Z]{3}))?$/,
  /** B. Id of the rate for items that are in no list. */
  defaultRate: 'default',
  /** Links of these types are promotions; links without a type are not deals. */
  promotionTypes: {
    coupon: true,
    sweepstakes: true,
    product: true,
    'sale/discount': true,
    'free shipping': true,
    'seasonal link': true,
    'site to store': true,
  },
} as const;
