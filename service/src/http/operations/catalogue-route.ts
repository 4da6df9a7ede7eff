// Serves the four lists of the catalogue from memory.

import type { Catalogue, CatalogueListName } from '../../catalogue/catalogue.ts';
import { ApiError } from '../../domain/api-errors.ts';
import { chooseCoding } from '../content/content-coding.ts';
import { matchesTag } from '../content/entity-tag.ts';
import { PageCache } from '../content/page-cache.ts';
import { type Exchange, nextLink } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { CATALOGUE_PARAMETERS } from './operations.ts';
import { type ParameterName, parseQuery, type Query } from './query.ts';

export function catalogueRoute(catalogue: Catalogue, pageSize: number) {
  const pages = new PageCache();

  return (exchange: Exchange, list: CatalogueListName, parameters: readonly ParameterName[]): Reply => {
    const query = parseQuery(exchange.search, parameters) as Query<(typeof CATALOGUE_PARAMETERS)[number]>;
    if (!catalogue.ready) {
      throw new ApiError('unavailable', 'The catalogue is still being loaded. Try again shortly.', {
        headers: { 'Retry-After': '1' },
      });
    }
    const page = pages.get(catalogue.list(list), {
      ...query,
      cursor: query.cursor,
      limit: query.limit ?? pageSize,
    });
    const { headers: asked } = exchange.request;
    const coding = chooseCoding(asked.get('Accept-Encoding'), page.size);
    const representation = page.as(coding);
    if (matchesTag(asked.get('If-None-Match'), representation.tag)) return representation.unchanged;
    return page.cursor === undefined
      ? representation.whole
      : { ...representation.whole, ownHeaders: { Link: nextLink(exchange, page.cursor) } };
  };
}
