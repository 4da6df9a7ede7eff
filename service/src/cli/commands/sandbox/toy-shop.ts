// The shop that activation links redirect to in the sandbox. A visitor can "buy" something there, and the sale appears among
// the transactions like a real shop's. `offerbook serve` does not have these routes.

import type { Order } from '@offerbook/sandbox/sale.ts';
import type { Retailer } from '@offerbook/sandbox/wire.ts';
import type { Frame, Page } from '@offerbook/site/html-page.ts';
import { toyOrderPage, toyShopPage } from '@offerbook/site/toy-shop-pages.ts';
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
  const page = async (exchange: Exchange, render: (frame: Frame) => Page): Promise<Reply> => {
    const frame = { urls: await assets.urls(), explorer: 'on' } as const;
    return pageFile(render(frame)).answer(exchange, NO_STORE);
  };

  function retailerOf({ parameters }: Exchange): Retailer {
    const found = world.findRetailer(parameters.retailer);
    if (found === undefined) throw new ApiError('not_found', 'No such shop in this sandbox.');
    return found;
  }

  const shared = { openToBrowsers: false, isLink: true } as const;
  return [
    {
      ...{ ...shared, method: 'GET', path },
      async answer(exchange) {
        const retailer = retailerOf(exchange);
        const clickId = exchange.parameters.click ?? '';
        const articles = await world.articles(retailer, clickId);
        const shop = {
          name: retailer.name,
          category: retailer.cashbackOffers[0]?.category ?? '',
          // The host of the logo's URL can differ from the one in the address bar.
          logoPath: new URL(retailer.logo).pathname,
          clickId,
          requestedUrl: new URLSearchParams(exchange.search).get('page') ?? undefined,
          articles: articles.map(({ name, order }) => ({ name, ...priced(order) })),
          chosen: chosenArticle(exchange),
        };
        return page(exchange, (frame) => toyShopPage(shop, frame));
      },
    },
    {
      ...{ ...shared, method: 'POST', path },
      async answer(exchange) {
        const retailer = retailerOf(exchange);
        const clickId = exchange.parameters.click ?? '';
        const article = (await world.articles(retailer, clickId))[chosenArticle(exchange) ?? 0];
        const bought = article && (await world.buy(article, clickId));
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
      ...{ ...shared, method: 'GET', path: `${SHOP_PATH}{retailer}/orders/{order}` },
      async answer(exchange) {
        const retailer = retailerOf(exchange);
        const id = exchange.parameters.order ?? '';
        const order = UUID_PATTERN.test(id) ? await world.findOrder(id) : undefined;
        if (order === undefined) throw new ApiError('not_found', 'No such order in this shop.');
        const shown = { shop: retailer.name, status: order.status, ...priced(order) };
        return page(exchange, (frame) => toyOrderPage(shown, frame));
      },
    },
  ];
}

function priced({ orderValue, cashback, currencyCode }: Order) {
  return { price: orderValue, cashback, currency: currencyCode };
}

/** Number of the article in the basket; undefined if the basket is empty. */
function chosenArticle({ search }: Exchange): number | undefined {
  const given = new URLSearchParams(search).get('article') ?? '';
  return /^\d$/.test(given) ? Number(given) : undefined;
}
