// Serves catalogue lists and their items from memory.

import type { CatalogueListName } from '../../catalogue/list-view.ts';
import { ApiError } from '../../domain/api-errors.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { type CataloguePage, cacheControl, PageCache } from '../content/page-cache.ts';
import type { Exchange } from '../exchange.ts';
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

  async function answerNew(exchange: Exchange): Promise<Reply> {
    const { search } = exchange;
    const query = await readQuery(search);
    const { cursor, limit = pageSize } = query;
    const view = catalogue.list(list);
    // No `await` from here on: the page is valid only until another request writes one.
    const page = pages.add(view, search, view.page({ ...query, cursor, limit }));
    return replyWith(page, exchange, catalogue.nowMs);
  }

  return (exchange) => {
    const cached = pages.find(catalogue.list(list), exchange.search);
    return cached === undefined ? answerNew(exchange) : replyWith(cached, exchange, catalogue.nowMs);
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

  async function answerNew(exchange: Exchange, key: string): Promise<Reply> {
    const id = parsePathId(exchange.parameters);
    await readQuery(exchange.search);
    const view = catalogue.list(list);
    // No `await` from here on: the item is valid only until another request writes one.
    const written = view.item(id);
    if (written === undefined)
      throw new ApiError('deal_not_found', 'No active retailer or deal has this id.');
    return replyWith(items.add(view, key, written), exchange, catalogue.nowMs);
  }

  return (exchange) => {
    const key = `${exchange.parameters.id}?${exchange.search}`;
    const cached = items.find(catalogue.list(list), key);
    return cached === undefined ? answerNew(exchange, key) : replyWith(cached, exchange, catalogue.nowMs);
  };
}

function replyWith(page: CataloguePage, exchange: Exchange, nowMs: number): Reply {
  const { headers } = exchange.request;
  const coding = chooseCoding(headers.get('Accept-Encoding'), page.encoded.bytes.length);
  const representation = page.as(coding);
  const caching = cacheControl(page.encoded, nowMs);
  if (matchesTag(headers.get('If-None-Match'), representation.tag))
    return { ...representation.unchanged, cacheControl: caching };
  return { ...representation.whole, cacheControl: caching, link: page.linkFor(exchange) };
}
