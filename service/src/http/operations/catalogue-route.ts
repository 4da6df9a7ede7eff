// Serves catalogue lists and their items from memory, and the list of domains.

import type { DomainList } from '../../catalogue/domain-list.ts';
import type { CatalogueListName, CatalogueQuery, ListView } from '../../catalogue/list-view.ts';
import type { EncodedPage } from '../../catalogue/tables/page-writer.ts';
import { ApiError, ERRORS } from '../../domain/api-errors.ts';
import { type Coding, chooseCoding, compressInThread } from '../content/content-coding.ts';
import { pageCache, pageReply, type Representation, representationOf } from '../content/page-cache.ts';
import type { Exchange } from '../exchange.ts';
import type { Handler, Services } from './operation.ts';
import { parsePathId, parseQuery } from './query.ts';

export function catalogueRoute(
  services: Services,
  list: CatalogueListName,
  parameters: readonly (keyof CatalogueQuery)[],
): Handler {
  const write: WritePage = (view, { search }) => {
    const query = parseQuery(search, parameters);
    const { cursor, limit = services.pageSize } = query;
    return view.page({ ...query, cursor, limit });
  };
  return cachedRoute(services, list, ({ search }) => search, write);
}

/** Serves one item, as the list contains it. */
export function catalogueItemRoute(services: Services, list: CatalogueListName): Handler {
  const write: WritePage = (view, { parameters, search }) => {
    const id = parsePathId(parameters);
    parseQuery(search, []);
    const item = view.item(id);
    if (item === undefined) throw new ApiError('deal_not_found', ERRORS.deal_not_found.detail);
    return item;
  };
  return cachedRoute(services, list, ({ parameters, search }) => `${parameters.id}?${search}`, write);
}

type WritePage = (view: ListView, exchange: Exchange) => EncodedPage;

function cachedRoute(
  { catalogue }: Services,
  list: CatalogueListName,
  keyOf: (exchange: Exchange) => string,
  write: WritePage,
): Handler {
  const pages = pageCache();
  return (exchange) => {
    const view = catalogue.current.list(list);
    const key = keyOf(exchange);
    const page = pages.find(view, key) ?? pages.add(key, write(view, exchange));
    const coding = chooseCoding(exchange.request.headers.get('Accept-Encoding'), page.encoded.bytes.length);
    return pageReply(page.as(coding), page.encoded, exchange, catalogue.nowMs, page.linkFor(exchange));
  };
}

/**
 * Serves the list of domains. The page is copied once per snapshot and compressed once per coding. It is large, and extensions
 * fetch it every hour, so it is compressed in another thread, at a higher level than other pages.
 */
export function domainsRoute({ catalogue }: Services): Handler {
  const pages = new WeakMap<DomainList, ReturnType<typeof domainsPage>>();
  return async (exchange) => {
    parseQuery(exchange.search, []);
    const { page, as } = pages.getOrInsertComputed(catalogue.current.domains, domainsPage);
    const accepted = exchange.request.headers.get('Accept-Encoding');
    const coding = chooseCoding(accepted, page.bytes.length, Number.POSITIVE_INFINITY);
    return pageReply(await as(coding), page, exchange, catalogue.nowMs);
  };
}

function domainsPage(list: DomainList) {
  const page = list.page();
  const representations = new Map<Coding | undefined, Promise<Representation>>();
  return {
    page,
    /** Requests that arrive during the compression share it. */
    as: (coding: Coding | undefined) =>
      representations.getOrInsertComputed(coding, () => represent(page, coding)),
  };
}

async function represent(page: EncodedPage, coding: Coding | undefined): Promise<Representation> {
  const compressed = coding === undefined ? undefined : await compressInThread(coding, page.bytes, 'good');
  return representationOf(page, coding, compressed);
}
