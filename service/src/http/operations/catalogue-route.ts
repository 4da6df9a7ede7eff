// Serves catalogue lists from memory.

import type { CatalogueListName } from '../../catalogue/list-view.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { cacheControl, PageCache } from '../content/page-cache.ts';
import { nextLink } from '../exchange.ts';
import type { Answer, ListedItem, Services } from './operation.ts';
import { listQueryReader } from './query.ts';

type CatalogueParameter = 'cursor' | 'limit' | 'name' | 'category' | 'country';

export function catalogueRoute(
  { catalogue, pageSize }: Services,
  list: CatalogueListName,
  parameters: readonly CatalogueParameter[],
  item: ListedItem,
): Answer {
  const pages = new PageCache();
  const readQuery = listQueryReader(parameters, item.loadSchema);

  return async (exchange) => {
    const query = await readQuery(exchange.search);
    const page = pages.get(catalogue.list(list), {
      ...query,
      cursor: query.cursor,
      limit: query.limit ?? pageSize,
    });
    const { headers } = exchange.request;
    const { bytes, cursor } = page.encoded;
    const coding = chooseCoding(headers.get('Accept-Encoding'), bytes.length);
    const representation = page.as(coding);
    // Set on every response, because a cached reply's headers still contain the previous value.
    const caching = { 'Cache-Control': cacheControl(page.encoded, catalogue.nowMs) };
    if (matchesTag(headers.get('If-None-Match'), representation.tag))
      return { ...representation.unchanged, ownHeaders: caching };
    const ownHeaders = cursor === undefined ? caching : { ...caching, Link: nextLink(exchange, cursor) };
    return { ...representation.whole, ownHeaders };
  };
}
