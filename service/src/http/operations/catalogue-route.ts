// Serves catalogue lists and their items from memory.

import type { CatalogueListName } from '../../catalogue/list-view.ts';
import { ApiError } from '../../domain/api-errors.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { type CataloguePage, cacheControl, PageCache } from '../content/page-cache.ts';
import { type Exchange, linkToNext } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Answer, ListedItem, Services } from './operation.ts';
import { listQueryReader, parsePathId } from './query.ts';

type CatalogueParameter = 'cursor' | 'limit' | 'name' | 'category' | 'country' | 'hostname' | 'retailerId';

export function catalogueRoute(
  { catalogue, pageSize }: Services,
  list: CatalogueListName,
  parameters: readonly CatalogueParameter[],
  item: ListedItem,
): Answer {
  const pages = new PageCache();
  const readQuery = listQueryReader(parameters, item.loadSchema);

  return async (exchange) => {
    const { search } = exchange;
    const cached = pages.find(catalogue.list(list), search);
    if (cached !== undefined) return replyWith(cached, exchange, catalogue.nowMs);
    const query = await readQuery(search);
    const { cursor, limit = pageSize } = query;
    const view = catalogue.list(list);
    // No `await` from here on: the page is valid only until another request writes one.
    const page = pages.add(view, search, view.page({ ...query, cursor, limit }));
    return replyWith(page, exchange, catalogue.nowMs);
  };
}

/** Serves one item, as the list contains it. */
export function catalogueItemRoute(
  { catalogue }: Services,
  list: CatalogueListName,
  item: ListedItem,
): Answer {
  const items = new PageCache();
  const readQuery = listQueryReader([], item.loadSchema);

  return async (exchange) => {
    const { parameters, search } = exchange;
    const key = `${parameters.id}?${search}`;
    const cached = items.find(catalogue.list(list), key);
    if (cached !== undefined) return replyWith(cached, exchange, catalogue.nowMs);
    const id = parsePathId(parameters);
    await readQuery(search);
    const view = catalogue.list(list);
    // No `await` from here on: the item is valid only until another request writes one.
    const written = view.item(id);
    if (written === undefined)
      throw new ApiError('deal_not_found', 'No active retailer or deal has this id.');
    return replyWith(items.add(view, key, written), exchange, catalogue.nowMs);
  };
}

function replyWith(page: CataloguePage, exchange: Exchange, nowMs: number): Reply {
  const { headers } = exchange.request;
  const coding = chooseCoding(headers.get('Accept-Encoding'), page.encoded.bytes.length);
  const representation = page.as(coding);
  // Set on every response, because a cached reply's headers still contain the previous value.
  const caching = { 'Cache-Control': cacheControl(page.encoded, nowMs) };
  if (matchesTag(headers.get('If-None-Match'), representation.tag))
    return { ...representation.unchanged, ownHeaders: caching };
  const { nextSearch } = page;
  const ownHeaders =
    nextSearch === undefined ? caching : { ...caching, Link: linkToNext(exchange, nextSearch) };
  return { ...representation.whole, ownHeaders };
}
