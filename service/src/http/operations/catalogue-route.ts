// Serves catalogue lists from memory.

import type { CatalogueListName } from '../../catalogue/list-view.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { type CataloguePage, cacheControl, PageCache } from '../content/page-cache.ts';
import { linkToNext } from '../exchange.ts';
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
    const { search } = exchange;
    const page = pages.find(catalogue.list(list), search) ?? (await writePage(search));
    const { headers } = exchange.request;
    const coding = chooseCoding(headers.get('Accept-Encoding'), page.encoded.bytes.length);
    const representation = page.as(coding);
    // Set on every response, because a cached reply's headers still contain the previous value.
    const caching = { 'Cache-Control': cacheControl(page.encoded, catalogue.nowMs) };
    if (matchesTag(headers.get('If-None-Match'), representation.tag))
      return { ...representation.unchanged, ownHeaders: caching };
    const { nextSearch } = page;
    const ownHeaders =
      nextSearch === undefined ? caching : { ...caching, Link: linkToNext(exchange, nextSearch) };
    return { ...representation.whole, ownHeaders };
  };

  async function writePage(search: string): Promise<CataloguePage> {
    const query = await readQuery(search);
    const { cursor, limit = pageSize } = query;
    return pages.write(catalogue.list(list), search, { ...query, cursor, limit });
  }
}
