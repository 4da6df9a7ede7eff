// Awin's transactions with invented values.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';

const STATUSES = ['pending', 'approved', 'declined'];

/** A row with all fields that Awin sends. */
export function awinRow(i: number, soldAtMs: number): string {
  const group = {
    commissionGroupId: 297_335 + (i % 900),
    amount: (i % 100_000) / 100,
    commissionAmount: 4.05,
  };
  return JSON.stringify({
    id: 900_100_200 + i,
    url: 'https://cashback.example',
    advertiserId: 17_874 + (i % 500),
    publisherId: 77_777,
    campaign: null,
    siteName: 'Cashback Example',
    commissionStatus: STATUSES[i % 3],
    commissionAmount: { amount: (i % 1_000) / 100, currency: 'EUR' },
    saleAmount: { amount: (1 + (i % 100_000)) / 100, currency: 'EUR' },
    customerCountry: 'DE',
    clickRefs: { clickRef: `user${i}`, clickRef2: 'autumn' },
    clickDate: printTimestamp(soldAtMs - 600_000),
    transactionDate: printTimestamp(soldAtMs),
    validationDate: null,
    type: 'Commission group transaction',
    declineReason: null,
    voucherCodeUsed: false,
    voucherCode: null,
    lapseTime: 2400,
    amended: false,
    amendReason: null,
    oldSaleAmount: null,
    oldCommissionAmount: null,
    orderRef: null,
    transactionParts: [{ ...group, commissionGroupCode: 'DEFAULT', commissionGroupName: 'Default' }],
    paidToPublisher: false,
    paymentId: 0,
  });
}
