// An integrator's program that uses the package. Tests compile and run it after replacing `https://api.example` and the tokens.

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
`;

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
  console.log(JSON.stringify({
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
${transpiler.transformSync(BODY)}`;
