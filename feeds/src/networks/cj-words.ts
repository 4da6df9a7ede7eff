// What CJ's words mean, and where its answers leave something open.
// They are from the network's own documents, but for those marked B or C: see "Corrections" in docs/feeds.md.

export const CJ = {
  /** Whether an action may still change. A record goes through them in this order, without a record of the change. */
  actionStatuses: { new: 0, extended: 1, locked: 2, closed: 3 },
  /** From which of them on a sale is confirmed. */
  confirmedFrom: 2,
  validationStatuses: { PENDING: 0, AUTOMATED: 1, ACCEPTED: 1, DECLINED: 2 },
  declined: 'DECLINED',
  /** Of an answer with commissions. One that is not complete goes on after its greatest id. */
  paging: { isComplete: 'payloadComplete', lastId: 'maxCommissionId', id: 'commissionId' },
  /** Of an answer of the XML services. */
  xmlPaging: { page: '@page-number', count: '@records-returned', total: '@total-matched' },
  /** C. An error of the XML services. */
  errorElement: 'error-message',
  joined: ['joined'],
  /** B. Rates are texts: `25.00%`, or a fixed amount with its currency. */
  percentRate: /^(\d+(?:\.\d+)?)\s*%$/,
  /** B. */
  fixedRate: /^(?:([A-Z]{3})\s*)?\$?(\d+(?:\.\d+)?)(?:\s*([A-Z]{3}))?$/,
  /** B. The id of the rate that applies where no list of items does. */
  defaultRate: 'default',
  /** Links of these kinds are promotions; those of none are plain links, and no deals. */
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
