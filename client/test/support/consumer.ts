// An integrator's program that uses the package. Tests compile and run it after replacing `https://api.example` and the tokens.

import { Webhook } from 'standardwebhooks';

/** A user whose id must not appear in any error. */
export const CONSUMER_USER = 'user-8842';

const IMPORTS = `import {
  type CashbackOffer,
  type CashbackOffersParameters,
  formatCashback,
  OfferbookClient,
  parseTimestamp,
  type RetailerOffer,
  type RetryOptions,
  type Transaction,
} from '@offerbook/client';
import { fileCheckpoint } from '@offerbook/client/node';
import { handleWebhook, type TransactionsChanged } from '@offerbook/client/webhooks';
`;

const WEBHOOK_TIME = new Date(Date.UTC(2026, 10, 14, 12));
const WEBHOOK_SECRET = `whsec_${btoa('a webhook secret of 32 bytes ...')}`;
const WEBHOOK_BODY = JSON.stringify({
  type: 'transactions.changed',
  timestamp: '2026-11-14T12:00:00',
  data: { transactions: [], after: null, completeThrough: '2026-11-14T11:59:59.999' },
});
const WEBHOOK_SIGNATURE = new Webhook(WEBHOOK_SECRET).sign('msg_1', WEBHOOK_TIME, WEBHOOK_BODY);

const BODY = `
async function main() {
  const retry: RetryOptions = { attemptsMax: 2 };
  const catalogue = new OfferbookClient({ baseUrl: 'https://api.example', token: () => 'ob_pub_…', retry });
  const sales = new OfferbookClient({ baseUrl: 'https://api.example', token: 'ob_prv_…', dates: 'Date' });
  const filters: CashbackOffersParameters = { country: 'DE' };
  const offers: CashbackOffer[] = await catalogue.cashbackOffers(filters).toArray({ max: 10 });
  const embedded: RetailerOffer[] = (await catalogue.retailers()).data.flatMap((retailer) => retailer.cashbackOffers);
  const seen: Transaction<Date>[] = [];
  const store = fileCheckpoint('consumer-place.txt');
  for await (const change of sales.followTransactions({ once: true, store })) seen.push(change);
  const again = await catalogue.cashbackOffers(filters);
  const code = (reason: unknown) => (reason as { code: string }).code;
  const error = await catalogue.retailers({ limit: 0 }).catch(code);
  const refused = await catalogue.transactions().catch(code);
  const nowhere = new OfferbookClient({ baseUrl: 'http://127.0.0.1:2', token: 'ob_pub_…', retry: { attemptsMax: 1 } });
  await nowhere.activate({ deal: 'coupon', id: 'c', orgId: 'o', passbackUid: '${CONSUMER_USER}' }).catch(console.error);
  const stored: TransactionsChanged[] = [];
  const receive = (signature: string) => {
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': '${WEBHOOK_TIME.getTime() / 1000}', 'webhook-signature': signature };
    const request = new Request('https://shop.example/webhooks', { method: 'POST', headers, body: '${WEBHOOK_BODY}' });
    return handleWebhook(request, {
      secret: '${WEBHOOK_SECRET}',
      store: async (event) => { stored.push(event); },
      onError: () => undefined,
      clock: { now: () => ${WEBHOOK_TIME.getTime()} },
    });
  };
  const received = [(await receive('${WEBHOOK_SIGNATURE}')).status, (await receive('v1,forged')).status];
  console.log(JSON.stringify({
    received,
    stored: stored.map(({ data }) => data.completeThrough),
    offers: offers.map((offer) => formatCashback(offer, 'en')),
    embedded: embedded.length,
    seen: seen.map((change) => change.soldAt.getTime()),
    checkpoint: parseTimestamp((await store.load()) ?? '') > new Date(0),
    again: again.data.length,
    error,
    refused,
  }));
}
void main();
`;

/** The program in TypeScript. */
export const CONSUMER: string = IMPORTS + BODY;

/** Output of the program for the data of ServedProject. */
export function consumerOutput(soldAtMs: number): unknown {
  return {
    received: [204, 401],
    stored: ['2026-11-14T11:59:59.999'],
    offers: ['5%', '14.5%', '7.50'],
    embedded: 3,
    seen: [soldAtMs, soldAtMs],
    checkpoint: true,
    again: 3,
    error: 'invalid_parameter',
    refused: 'wrong_token_kind',
  };
}

const transpiler = new Bun.Transpiler({ loader: 'ts', target: 'node' });

/** The program in JavaScript. */
export const CONSUMER_ESM: string = transpiler.transformSync(CONSUMER);
export const CONSUMER_COMMONJS: string = `
const { formatCashback, OfferbookClient, parseTimestamp } = require('@offerbook/client');
const { fileCheckpoint } = require('@offerbook/client/node');
const { handleWebhook } = require('@offerbook/client/webhooks');
${transpiler.transformSync(BODY)}`;
