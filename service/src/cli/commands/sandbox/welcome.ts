// The text that the sandbox prints when it is ready: addresses, tokens, and three requests to copy and paste. It
// fits a terminal of 80 columns and 24 lines.

import { styleText } from 'node:util';
import { ACCOUNTS, NETWORKS, secretVariables } from '@offerbook/sandbox/networks/accounts.ts';
import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { DAY_MS } from '@offerbook/wire/time.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';

interface Welcome {
  /** The URLs have no trailing slash. */
  readonly baseUrl: string;
  readonly consoleUrl: string;
  /** Undefined if the fake networks are not served. */
  readonly networksUrl: string | undefined;
  readonly publicToken: string;
  readonly privateToken: string;
  readonly orgId: string;
  readonly retailers: readonly Retailer[];
  readonly seed: number;
  /** Where the data is stored, for display. */
  readonly place: string;
  /** How to start over with new data: a command or a phrase. */
  readonly startOver: string;
  readonly nowMs: number;
}

export function welcomeText(welcome: Welcome): string {
  const { baseUrl, publicToken, privateToken } = welcome;
  const lines = [
    styleText('bold', 'Offerbook sandbox'),
    `  Explorer   ${baseUrl}/`,
    `  API        ${baseUrl}   the base URL; operations are under /v1/`,
    `  Docs       ${baseUrl}/docs`,
    `  Console    ${welcome.consoleUrl}/   for operators, on this machine only`,
    '',
    `  Public token   ${publicToken}   catalogue`,
    `  Private token  ${privateToken}   transactions`,
    `  orgId          ${welcome.orgId}   for activation links`,
    '',
    ...requestLines(welcome),
    '',
    ...networkLines(welcome),
    `  Data        ${welcome.place} (seed ${welcome.seed}); new sales every few seconds`,
    '  Stop        Ctrl+C; the next start continues with the same data and tokens',
    `  Start over  ${welcome.startOver}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function networkLines({ networksUrl, nowMs }: Welcome): string[] {
  if (networksUrl === undefined) return [];
  const { account, credentials } = ACCOUNTS.awin;
  const printDay = (days: number) => printTimestamp(nowMs - days * DAY_MS).slice(0, 10);
  const query = `startDate=${printDay(1)}T00:00:00&endDate=${printDay(0)}T00:00:00&timezone=UTC`;
  return [
    styleText('bold', 'Affiliate networks'),
    '',
    ...NETWORKS.map((network) => {
      const secrets = secretVariables(network).map(({ variable, value }) => `${variable}=${value}`);
      return `  ${network.padEnd(10)} ${networksUrl}/sources/${network}.json   source file; set ${secrets.join(' ')}`;
    }),
    '',
    "  # Yesterday's sales at Awin, before they are converted",
    `  curl -s -H 'Authorization: Bearer ${credentials.token}' '${networksUrl}/publishers/${account}/transactions/?${query}'`,
    '',
    '  # Pull the catalogue and the sales of the last four weeks from impact.com into a new database',
    `  curl -s ${networksUrl}/sources/impact.json > impact.json`,
    '  offerbook orgs create acme --database sqlite:pulled.db',
    `  IMPACT_TOKEN=${ACCOUNTS.impact.credentials.token} offerbook pull --source impact.json --org acme --since ${printDay(28)} --database sqlite:pulled.db`,
    '',
  ];
}

function requestLines(welcome: Welcome): string[] {
  const { baseUrl, publicToken, privateToken, nowMs } = welcome;
  const [retailer] = welcome.retailers;
  if (retailer === undefined) throw new Error('the catalogue is empty');
  const yesterday = printTimestamp(nowMs - DAY_MS).slice(0, 10);
  const get = (token: string, path: string, flags = '-s') =>
    `  curl ${flags} -H 'Authorization: Bearer ${token}' '${baseUrl}/v1/${path}'`;
  return [
    '  # Retailers with their offers, coupons and promotions',
    get(publicToken, 'retailers/?limit=3'),
    '  # Sales changed since yesterday; continue at the smallest Complete-Through',
    get(privateToken, `transactions/?updatedAtGreaterThan=${yesterday}`, '-si'),
    '  # A click by your user "user-1"; open the URL in a browser to buy something',
    `  curl -si '${baseUrl}/v1/retailers/${retailer.id}/activate/?orgId=${welcome.orgId}&passbackUid=user-1'`,
  ];
}
