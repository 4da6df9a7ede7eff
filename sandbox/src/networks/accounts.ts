// The sandbox publisher's account at each fake network. The credentials are public: they give access to synthetic data only.

export const NETWORKS = ['awin', 'impact', 'partnerize', 'cj', 'rakuten'] as const;
export type NetworkName = (typeof NETWORKS)[number];

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
    credentials: { clientId: 'sandbox-rakuten-client', clientSecret: 'sandbox-rakuten-secret' },
  },
} as const;

export function basic(user: string, password: string): string {
  return `Basic ${btoa(`${user}:${password}`)}`;
}
