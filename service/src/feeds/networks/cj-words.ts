// What CJ's words mean, and where its answers leave something open.

import { fact } from './fact.ts';

export const CJ = {
  /** Whether an action may still change. A record goes through them in this order, without a record of the change. */
  actionStatuses: fact('A', { new: 0, extended: 1, locked: 2, closed: 3 }),
  /** From which of them on a sale is confirmed. */
  confirmedFrom: fact('A', 2),
  validationStatuses: fact('A', { PENDING: 0, AUTOMATED: 1, ACCEPTED: 1, DECLINED: 2 }),
  declined: fact('A', 'DECLINED'),
  /** Of an answer with commissions. One that is not complete goes on after its greatest id. */
  paging: fact('A', { isComplete: 'payloadComplete', lastId: 'maxCommissionId', id: 'commissionId' }),
  /** Of an answer of the XML services. */
  xmlPaging: fact('A', { page: '@page-number', count: '@records-returned', total: '@total-matched' }),
  /** An error of the XML services. */
  errorElement: fact('C', 'error-message'),
  joined: fact('A', { joined: true }),
  /** Rates are texts: `25.00%`, or a fixed amount with its currency. */
  percentRate: fact('B', /^(\d+(?:\.\d+)?)\s*%$/),
  fixedRate: fact('B', /^(?:([A-Z]{3})\s*)?\$?(\d+(?:\.\d+)?)(?:\s*([A-Z]{3}))?$/),
  /** The id of the rate that applies where no list of items does. */
  defaultRate: fact('B', 'default'),
  /** Links of these kinds are promotions; those of none are plain links, and no deals. */
  promotionTypes: fact('A', {
    coupon: true,
    sweepstakes: true,
    product: true,
    'sale/discount': true,
    'free shipping': true,
    'seasonal link': true,
    'site to store': true,
  }),
} as const;
