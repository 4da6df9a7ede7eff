// Example source files. The examples must work unchanged, so they do not name an overlay: that would require a second file.

import type { NetworkName } from './source-file.ts';

/** For networks that have no logos. */
const LOGO = 'https://logos.example/{advertiser}.png';

const EXAMPLES: Readonly<Record<NetworkName, object>> = {
  awin: { account: '77777', timeZone: 'UTC', credentials: { token: { file: 'awin.token' } } },
  impact: { account: 'IRxxxxxxxxxxxx', logo: LOGO, credentials: { token: { file: 'impact.token' } } },
  partnerize: {
    account: '111111l92',
    country: 'GB',
    timeZone: 'UTC',
    credentials: {
      applicationKey: { file: 'partnerize.application-key' },
      apiKey: { file: 'partnerize.api-key' },
    },
  },
  cj: {
    account: '7000000',
    website: '8000000',
    currency: 'USD',
    country: 'US',
    logo: LOGO,
    timeZone: 'UTC',
    credentials: { token: { file: 'cj.token' } },
  },
  rakuten: {
    account: '112',
    country: 'US',
    logo: LOGO,
    transactionType: 'batch',
    confirmAfterDays: 60,
    timeZone: 'UTC',
    credentials: { clientId: { file: 'rakuten.client-id' }, clientSecret: { file: 'rakuten.client-secret' } },
  },
  table: {
    account: 'shop-portal',
    timeZone: 'Europe/Berlin',
    transactions: {
      separator: ';',
      fields: {
        id: 'Order number',
        advertiserId: { column: 'Shop', trim: true, lower: true },
        status: {
          column: 'State',
          lower: true,
          words: { open: 'PENDING', paid: 'CONFIRMED', cancelled: 'DECLINED' },
        },
        soldAt: { column: 'Date', date: 'DD.MM.YYYY HH:mm' },
        currency: { constant: 'EUR' },
        country: { constant: 'DE' },
        orderValue: { column: 'Total', number: 'comma' },
        commission: { column: 'Commission', number: 'comma' },
        subId: 'Reference',
      },
    },
    retailers: {
      separator: ';',
      fields: { id: { column: 'Shop', trim: true, lower: true }, name: 'Name', url: 'Website', logo: 'Logo' },
    },
    offers: {
      separator: ';',
      fields: {
        id: { column: 'Shop', trim: true, lower: true },
        retailerId: { column: 'Shop', trim: true, lower: true },
        rate: { column: 'Percent', number: 'comma', percent: true },
        countries: { constant: 'DE AT' },
      },
    },
  },
};

export function exampleSource(network: NetworkName, namespace: string): object {
  const { account, ...rest } = EXAMPLES[network] as { account: string };
  const share = { default: 0.7, advertisers: { '17874': 0.65 }, groups: {} };
  return { network, account, namespace, share, rounding: 'half-even', subId: 'uid', ...rest };
}
