// CJ's terms, and our interpretation of points that its documentation leaves open. Entries marked B or C are not from the
// network's documentation: see "Corrections" in docs/feeds.md.

export const CJ = {
  /** Statuses of an action, in order. A record advances through these statuses in place. */
  actionStatuses: { new: 0, extended: 1, locked: 2, closed: 3 },
  /** Sales with this status or a later one are confirmed. */
  confirmedFrom: 2,
  validationStatuses: { PENDING: 0, AUTOMATED: 1, ACCEPTED: 1, DECLINED: 2 },
  declined: 'DECLINED',
  /** C. Error element of the XML services. */
  errorElement: 'error-message',
  joined: ['joined'],
  /** B. Rates are strings: `25.00%`, or a fixed amount with its currency. */
  percentRate: /^(\d+(?:\.\d+)?)\s*%$/,
  /** B. */
  fixedRate: /^(?:([A-Z]{3})\s*)?\$?(\d+(?:\.\d+)?)(?:\s*([A-Z]{3}))?$/,
  /** B. Id of the rate for items that are not in any list. */
  defaultRate: 'default',
  /** Links of these types are promotions; links without a type are not deals. */
  promotionTypes: [
    'coupon',
    'sweepstakes',
    'product',
    'sale/discount',
    'free shipping',
    'seasonal link',
    'site to store',
  ],
} as const;
