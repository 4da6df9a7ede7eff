// Decides which unknown parameters are rejected: those that a client would expect to narrow, sort or page the list.
// Ignoring `?status=PENDING` would return every transaction. Others, such as cache busters, are ignored.

import { findNearMiss, foldName } from './near-miss.ts';

const PAGING = 'page with cursor and limit';
const ORDER = 'lists are sorted by id';
const ALL_FIELDS = 'items have all their fields';

/** Words that other interfaces use, folded, with the advice for each. Empty: the advice is the list of parameters. */
const WORDS: Readonly<Record<string, string>> = {
  page: PAGING,
  pageno: PAGING,
  pagenumber: PAGING,
  pagetoken: PAGING,
  offset: PAGING,
  skip: PAGING,
  start: PAGING,
  perpage: PAGING,
  pagesize: PAGING,
  size: PAGING,
  count: PAGING,
  take: PAGING,
  maxresults: PAGING,
  sort: ORDER,
  sortby: ORDER,
  order: ORDER,
  orderby: ORDER,
  fields: ALL_FIELDS,
  select: ALL_FIELDS,
  include: ALL_FIELDS,
  expand: ALL_FIELDS,
  q: '',
  query: '',
  search: '',
  filter: '',
  filters: '',
  where: '',
  since: '',
  until: '',
  from: '',
  to: '',
  after: '',
  before: '',
};

/** The reason to reject a parameter whose name is a misspelling of one that the operation takes. */
export function describeMisspelling(given: string, parameters: readonly string[]): string | undefined {
  const meant = findNearMiss(given, parameters);
  return meant === undefined ? undefined : `is not a parameter; ${meant} is`;
}

/**
 * The reason to reject a parameter that a list does not take; undefined to ignore it. `filters` are names that a client
 * could take for filters: the fields of the answer and the parameters of other operations.
 */
export function describeMisleading(
  given: string,
  parameters: readonly string[],
  filters: readonly string[],
): string | undefined {
  const misspelling = describeMisspelling(given, parameters);
  if (misspelling !== undefined) return misspelling;
  // The name before an operator: `status[in]`, `status__in`, `filter.status`.
  const word = foldName(given.split(/\[|\.|:|__/, 1)[0] ?? '');
  if (Object.hasOwn(WORDS, word)) return `is not a parameter; ${WORDS[word] || listOf(parameters)}`;
  return filters.some((name) => foldName(name) === word)
    ? `is not a parameter; ${listOf(parameters)}`
    : undefined;
}

function listOf(parameters: readonly string[]): string {
  return `the parameters are ${parameters.join(', ')}`;
}
