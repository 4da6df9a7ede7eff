// The shop that activation links redirect to in the sandbox. A visitor can "buy" something there, and the sale appears among
// the transactions like a real shop's. `offerbook serve` does not have these routes.

import type { Retailer } from '@offerbook/sandbox/wire.ts';
import { type Html, html } from '@offerbook/site/html.ts';
import { htmlPage } from '@offerbook/site/html-page.ts';
import { UUID_PATTERN, type Uuid } from '@offerbook/wire/uuid.ts';
import { ApiError } from '../../../domain/api-errors.ts';
import type { Stores } from '../../../domain/stores.ts';
import type { Exchange } from '../../../http/exchange.ts';
import { openAssets, SITE_ASSETS } from '../../../http/pages/assets.ts';
import { pageFile } from '../../../http/pages/page-file.ts';
import type { Reply } from '../../../http/reply.ts';
import type { Route } from '../../../http/router.ts';
import type { World } from './world.ts';

const SHOP_PATH = '/sandbox/shop/';
const NO_STORE = 'no-store';

/**
 * Replaces all activation links with links to the toy shop. Writes to the store directly because the import accepts only
 * https, and the shop is served over http.
 */
export async function linkToToyShop(
  stores: Stores,
  retailers: readonly Retailer[],
  baseUrl: string,
): Promise<void> {
  await stores.links.write(async (writer) => {
    await writer.remove((await writer.list()).map(({ id }) => id));
    await writer.put(
      retailers.map(({ id }) => ({
        id: id as Uuid,
        kind: 'retailer',
        template: `${baseUrl}${SHOP_PATH}${id}/{click}?page={url}`,
      })),
    );
    await writer.markChanged();
  });
}

export function toyShopRoutes(world: World): Route[] {
  const assets = openAssets(SITE_ASSETS);
  const path = `${SHOP_PATH}{retailer}/{click}`;
  const page = async (exchange: Exchange, title: string, main: Html): Promise<Reply> => {
    const parts = { title: `${title} · Toy shop`, place: undefined, main, submitsForms: true } as const;
    return pageFile(htmlPage(parts, { urls: await assets.urls(), explorer: 'on' })).answer(
      exchange,
      NO_STORE,
    );
  };

  function retailerOf({ parameters }: Exchange): Retailer {
    const found = world.retailers.find(({ id }) => id === parameters.retailer);
    if (found === undefined) throw new ApiError('not_found', 'No such shop in this sandbox.');
    return found;
  }

  return [
    {
      method: 'GET',
      path,
      openToBrowsers: false,
      isLink: true,
      answer(exchange) {
        const { name } = retailerOf(exchange);
        const requested = new URLSearchParams(exchange.search).get('page');
        return page(
          exchange,
          name,
          html`<div class="screen narrow prose toy-shop">
<p class="tags"><span class="tag">Toy shop of the sandbox</span></p>
<h1>${name}</h1>
<p class="lead">You have arrived. Your click id is <code>${exchange.parameters.click ?? ''}</code>. The shop reports it to the affiliate network when you buy something.</p>
${requested === null ? undefined : html`<p>A real shop would now show <code>${requested}</code>.</p>`}
<form method="post"><button type="submit" class="primary">Buy something</button></form>
</div>`,
        );
      },
    },
    {
      method: 'POST',
      path,
      openToBrowsers: false,
      isLink: true,
      async answer(exchange) {
        const retailer = retailerOf(exchange);
        const bought = await world.buy(retailer, exchange.parameters.click ?? '');
        if (bought === undefined) throw new ApiError('deal_not_found', 'No such click.');
        // Redirect to a separate page, so that a reload does not repeat the purchase.
        const headers = new Headers({
          Location: `${SHOP_PATH}${retailer.id}/orders/${bought.id}`,
          'Cache-Control': NO_STORE,
        });
        return { status: 303, headers, body: null };
      },
    },
    {
      method: 'GET',
      path: `${SHOP_PATH}{retailer}/orders/{order}`,
      openToBrowsers: false,
      isLink: true,
      async answer(exchange) {
        const retailer = retailerOf(exchange);
        const id = exchange.parameters.order ?? '';
        const order = UUID_PATTERN.test(id) ? await world.findOrder(id) : undefined;
        if (order === undefined) throw new ApiError('not_found', 'No such order in this shop.');
        const { orderValue, currencyCode, status } = order;
        const next = status === 'PENDING' ? '; the shop confirms it within about a minute' : '';
        return page(
          exchange,
          'Thank you',
          html`<div class="screen narrow prose toy-shop">
<h1>Thank you for your order</h1>
<p class="lead">You bought something for ${orderValue.toFixed(2)} ${currencyCode} at ${retailer.name}. The sale is already in the transactions as ${status}${next}.</p>
<p><a class="button" href="/?view=transactions">See it arrive</a></p>
</div>`,
        );
      },
    },
  ];
}
