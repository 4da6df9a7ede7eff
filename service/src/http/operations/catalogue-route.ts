// Serves catalogue lists and their items from memory.

import type { CatalogueListName } from '../../catalogue/list-view.ts';
import { ApiError } from '../../domain/api-errors.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { type CataloguePage, cacheControl, PageCache } from '../content/page-cache.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Answer, Services } from './operation.ts';
import { parsePathId, parseQuery } from './query.ts';

type CatalogueParameter = 'cursor' | 'limit' | 'name' | 'category' | 'country' | 'hostname' | 'retailerId';

export function catalogueRoute(
  { catalogue, pageSize }: Services,
  list: CatalogueListName,
  parameters: readonly CatalogueParameter[],
): Answer {
  const pages = new PageCache();

  function answerNew(exchange: Exchange): Reply {
    const { search } = exchange;
    const query = parseQuery(search, parameters);
    const { cursor, limit = pageSize } = query;
    const view = catalogue.list(list);
    const page = pages.add(view, search, view.page({ ...query, cursor, limit }));
    return replyWith(page, exchange, catalogue.nowMs);
  }

  return (exchange) => {
    const cached = pages.find(catalogue.list(list), exchange.search);
    return cached === undefined ? answerNew(exchange) : replyWith(cached, exchange, catalogue.nowMs);
  };
}

/** Serves one item, as the list contains it. */
export function catalogueItemRoute({ catalogue }: Services, list: CatalogueListName): Answer {
  const items = new PageCache();

  function answerNew(exchange: Exchange, key: string): Reply {
    const id = parsePathId(exchange.parameters);
    parseQuery(exchange.search, []);
    const view = catalogue.list(list);
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
