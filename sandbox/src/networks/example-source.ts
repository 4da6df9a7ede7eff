// Source files for pulling from the fake networks.

import { namedUuid } from '../random.ts';
import { ACCOUNTS, type NetworkName } from './accounts.ts';

const SETTINGS: Readonly<Record<NetworkName, object>> = {
  awin: {},
  impact: {},
  partnerize: {},
  cj: { currency: ACCOUNTS.cj.currency, website: ACCOUNTS.cj.website },
  rakuten: { country: ACCOUNTS.rakuten.country, transactionType: 'batch', confirmAfterDays: 60 },
};

/** The source file of a network. The secrets are in environment variables. */
export function exampleSource(network: NetworkName, baseUrl: string): object {
  const { account } = ACCOUNTS[network];
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
    ...SETTINGS[network],
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
