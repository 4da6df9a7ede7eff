// A thread that imports sales one after the other, each with its own click, until it receives `stop`.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { ClickIds } from '../../src/activation/click-id.ts';
import { importTransactions } from '../../src/importer/import-transactions.ts';
import { openStores } from '../../src/storage/open-stores.ts';
import { recordClick } from '../support/fixture-click.ts';
import { transaction } from '../support/fixtures.ts';
import { ndjson } from '../support/test-node.ts';

declare const self: Worker;

let stopped = false;
self.onmessage = ({ data }: MessageEvent<string>) => {
  if (data === 'stop') stopped = true;
  else void sell(data);
};

async function sell(url: string): Promise<void> {
  const stores = await openStores(url);
  const { id: orgId = 0 } = (await stores.organisations.find('acme')) ?? {};
  const attributor = { ids: new ClickIds(await stores.clickKey()), clicks: stores.clicks };
  for (let number = 1; !stopped; number++) {
    const { passbackUid: _, ...sale } = transaction(number);
    // The click contains the id of its sale, so that the test can compare them.
    const click = await recordClick(stores, orgId, { passbackData: sale.id });
    const source = sourceFrom(ndjson([{ ...sale, clickId: click.id }]));
    await importTransactions(stores.transactions, undefined, source, Date.now, { attributor });
    if (number === 3) self.postMessage('selling');
  }
  await stores.close();
  self.postMessage('stopped');
}
