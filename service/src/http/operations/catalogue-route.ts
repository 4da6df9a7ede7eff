// Serves catalogue lists and their items from memory.

import type { CatalogueListName, ListView } from '../../catalogue/list-view.ts';
import type { EncodedPage } from '../../catalogue/tables/page-writer.ts';
import { ApiError } from '../../domain/api-errors.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { PageCache, pageReply } from '../content/page-cache.ts';
import type { Exchange } from '../exchange.ts';
import type { Handler, Services } from './operation.ts';
import { parsePathId, parseQuery } from './query.ts';

type CatalogueParameter = 'cursor' | 'limit' | 'name' | 'category' | 'country' | 'hostname' | 'retailerId';

export function catalogueRoute(
  services: Services,
  list: CatalogueListName,
  parameters: readonly CatalogueParameter[],
): Handler {
  return cachedRoute(services, list, {
    keyOf: ({ search }) => search,
    write(view, { search }) {
      const query = parseQuery(search, parameters);
      const { cursor, limit = services.pageSize } = query;
      return view.page({ ...query, cursor, limit });
    },
  });
}

/** Serves one item, as the list contains it. */
export function catalogueItemRoute(services: Services, list: CatalogueListName): Handler {
  return cachedRoute(services, list, {
    keyOf: ({ parameters, search }) => `${parameters.id}?${search}`,
    write(view, { parameters, search }) {
      const id = parsePathId(parameters);
      parseQuery(search, []);
      const item = view.item(id);
      if (item === undefined) throw new ApiError('deal_not_found', 'No active retailer or deal has this id.');
      return item;
    },
  });
}

interface CachedRoute {
  readonly keyOf: (exchange: Exchange) => string;
  readonly write: (view: ListView, exchange: Exchange) => EncodedPage;
}

function cachedRoute(
  { catalogue }: Services,
  list: CatalogueListName,
  { keyOf, write }: CachedRoute,
): Handler {
  const pages = new PageCache();
  return (exchange) => {
    const view = catalogue.list(list);
    const key = keyOf(exchange);
    const page = pages.find(view, key) ?? pages.add(key, write(view, exchange));
    const coding = chooseCoding(exchange.request.headers.get('Accept-Encoding'), page.encoded.bytes.length);
    return pageReply(page.as(coding), page.encoded, exchange, catalogue.nowMs, page.linkFor(exchange));
  };
}
