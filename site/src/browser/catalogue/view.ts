// Converts between the URL's query string and the state of the page, so that every view can be shared as a link.

/** Kinds of deals to filter by. */
export const DEAL_KINDS = ['featured', 'cashback', 'coupons', 'promotions'] as const;
export type DealKind = (typeof DEAL_KINDS)[number];

/** Sort orders besides the default, which is featured offers first. */
export const SORTS = ['rate', 'name', 'ending'] as const;
export type Sort = (typeof SORTS)[number];

export interface ListView {
  readonly kind: 'list';
  readonly query: string;
  /** Empty means all, here and in the next two fields. */
  readonly category: string;
  readonly country: string;
  readonly deals: DealKind | '';
  readonly sort: Sort | '';
}

export interface RetailerView {
  readonly kind: 'retailer';
  readonly id: string;
  /** Show only offers for this country; empty for all. */
  readonly country: string;
}

/** `transactions` shows the sandbox's transactions as they change. */
export type View = ListView | RetailerView | { readonly kind: 'transactions' };

export const EVERYTHING: ListView = {
  kind: 'list',
  query: '',
  category: '',
  country: '',
  deals: '',
  sort: '',
};

export function parseView(search: string): View {
  const given = new URLSearchParams(search);
  const id = given.get('retailer') ?? '';
  const country = (given.get('country') ?? '').toUpperCase();
  if (id !== '') return { kind: 'retailer', id: id.toLowerCase(), country };
  if (given.get('view') === 'transactions') return { kind: 'transactions' };
  return {
    kind: 'list',
    query: given.get('q') ?? '',
    category: given.get('category') ?? '',
    country,
    deals: oneOf(DEAL_KINDS, given.get('deals')),
    sort: oneOf(SORTS, given.get('sort')),
  };
}

/** Returns an empty string for unknown values. */
export function oneOf<const T extends string>(values: readonly T[], text: string | null): T | '' {
  return values.find((value) => value === text) ?? '';
}

export function printView(view: View): string {
  const given = Object.entries(parametersOf(view)).filter(([, value]) => value !== '');
  return given.length === 0 ? '/' : `/?${new URLSearchParams(given)}`;
}

function parametersOf(view: View): Readonly<Record<string, string>> {
  switch (view.kind) {
    case 'transactions':
      return { view: 'transactions' };
    case 'retailer':
      return { retailer: view.id, country: view.country };
    case 'list': {
      const { query, category, country, deals, sort } = view;
      return { q: query, category, country, deals, sort };
    }
  }
}
