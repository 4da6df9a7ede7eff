// Decides which unknown parameters are rejected: those that a client would expect to filter, sort or paginate the list.
// Ignoring `?status=PENDING`, for example, would return every transaction. Other unknown parameters, such as cache busters,
// are ignored.

interface Advice {
  /** Names that clients know from other APIs, in lower case without punctuation. */
  readonly names: RegExp;
  readonly advice: string;
  /** The advice applies only to operations with this parameter. */
  readonly parameter?: string;
}

/** What to use instead of common parameters. */
const ADVICE: readonly Advice[] = [
  {
    names: /^(page(no|number|token|size)?|perpage|offset|skip|start|size|count|take|maxresults)$/,
    advice: 'use cursor and limit for paging',
    parameter: 'cursor',
  },
  { names: /^ids?$/, advice: 'to get one item, add its id to the path', parameter: 'cursor' },
  {
    names: /^(host|domains?|site|website|url|shop|shopurl)$/,
    advice: 'use hostname to find the retailer of a site',
    parameter: 'hostname',
  },
  {
    names: /^(retailer|retailers|merchant|merchantid|advertiser|advertiserid|store|storeid|shopid)$/,
    advice: 'use retailerId',
    parameter: 'retailerId',
  },
  { names: /^countr(ies|ycodes?)$/, advice: 'use country', parameter: 'country' },
  {
    names: /^countr(y|ies|ycodes?)$/,
    advice: 'only cashback offers have countries',
    parameter: 'retailerId',
  },
  { names: /^(sort|sortby|order|orderby)$/, advice: 'lists are sorted by id', parameter: 'cursor' },
  { names: /^(fields|select|include|expand)$/, advice: 'items always have all fields' },
];
/** Shorter names are one error away from too many other names: `t` is often a cache buster, not a misspelt `to`. */
const MISSPELT_LENGTH_MIN = 4;
const FILTER = /^(q|query|search|filters?|where|since|until|from|to|after|before)$/;

/** Returns why a name is rejected as a misspelt parameter; undefined if it does not look like one. */
export function describeMisspelling(given: string, parameters: readonly string[]): string | undefined {
  const written = foldName(given);
  const meant = parameters.find((name) => {
    const folded = foldName(name);
    return written === folded || (folded.length >= MISSPELT_LENGTH_MIN && isOneErrorAway(written, folded));
  });
  return meant === undefined ? undefined : `is not a parameter; ${meant} is`;
}

/**
 * Returns the reason to reject an unknown parameter; undefined to ignore it. `filters` are names that a client could mistake
 * for filters: the item's fields and other operations' parameters.
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
  const meant = ADVICE.filter(({ names }) => names.test(word));
  const fitting = meant.find(({ parameter }) => parameter === undefined || parameters.includes(parameter));
  if (fitting !== undefined) return `is not a parameter; ${fitting.advice}`;
  return meant.length > 0 || FILTER.test(word) || filters.some((name) => foldName(name) === word)
    ? `is not a parameter; ${listParameters(parameters)}`
    : undefined;
}

function listParameters(parameters: readonly string[]): string {
  return parameters.length === 0 ? 'this operation has none' : `the parameters are ${parameters.join(', ')}`;
}

/** Keeps only letters and digits, in lower case: `updated_at` and `updatedAt` fold to the same string. */
function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** True if at most one character is missing, added, wrong, or swapped with its neighbour. */
function isOneErrorAway(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [a, b] = [one.slice(start), other.slice(start)];
  return (
    a === b ||
    a.slice(1) === b ||
    a === b.slice(1) ||
    a.slice(1) === b.slice(1) ||
    (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2))
  );
}
