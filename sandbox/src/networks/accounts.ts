// The sandbox publisher's account at each fake network, and source files for pulling from them. The credentials are public: they
// give access to synthetic data only.

import { namedUuid } from '../random.ts';

/** Keyed by network. Each entry has the account, other settings of its source file, and the credentials. */
export const ACCOUNTS = {
  awin: { account: '77777', credentials: { token: 'sandbox-awin-token' } },
  impact: { account: 'IRsandbox77777', credentials: { token: 'sandbox-impact-token' } },
  partnerize: {
    account: '111111l92',
    credentials: { applicationKey: 'sandbox-partnerize-application', apiKey: 'sandbox-partnerize-key' },
  },
  cj: { account: '7000000', website: '8000000', currency: 'EUR', credentials: { token: 'sandbox-cj-token' } },
  rakuten: {
    account: '112',
    country: 'US',
    transactionType: 'batch',
    confirmAfterDays: 60,
    credentials: { clientId: 'sandbox-rakuten-client', clientSecret: 'sandbox-rakuten-secret' },
  },
} as const;

export type NetworkName = keyof typeof ACCOUNTS;
export const NETWORKS = Object.keys(ACCOUNTS) as NetworkName[];

export function basic(user: string, password: string): string {
  return `Basic ${btoa(`${user}:${password}`)}`;
}

/** The source file of a network. The secrets are in environment variables. */
export function exampleSource(network: NetworkName, baseUrl: string): object {
  const { account, credentials: _, ...settings } = ACCOUNTS[network];
  const credentials = Object.fromEntries(
    secretVariables(network).map(({ name, variable }) => [name, { env: variable }]),
  );
  return {
    network,
    account,
    namespace: namedUuid('source', network),
    share: { default: 0.7 },
    subId: 'uid',
    // Three networks have no logos, and some lists contain no countries.
    logo: 'https://logos.example/{advertiser}.png',
    country: 'DE',
    ...settings,
    credentials,
    baseUrl,
  };
}

/** The secrets of a network, with their environment variables, such as RAKUTEN_CLIENT_ID. */
export function secretVariables(network: NetworkName): { name: string; variable: string; value: string }[] {
  return Object.entries(ACCOUNTS[network].credentials).map(([name, value]) => ({
    name,
    variable: `${network}_${name.replaceAll(/[A-Z]/g, '_$&')}`.toUpperCase(),
    value,
  }));
}
