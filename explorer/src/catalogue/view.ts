// What the page shows, as its address says it: everything that can be shared is in the query string.

export interface ListView {
  readonly kind: 'list';
  readonly query: string;
  /** Empty for all. */
  readonly category: string;
  readonly country: string;
}

export interface RetailerView {
  readonly kind: 'retailer';
  readonly id: string;
}

export type View = ListView | RetailerView;

export const EVERYTHING: ListView = { kind: 'list', query: '', category: '', country: '' };

export function parseView(search: string): View {
  const given = new URLSearchParams(search);
  const id = given.get('retailer') ?? '';
  if (id !== '') return { kind: 'retailer', id: id.toLowerCase() };
  return {
    kind: 'list',
    query: given.get('q') ?? '',
    category: given.get('category') ?? '',
    country: (given.get('country') ?? '').toUpperCase(),
  };
}

export function printView(view: View): string {
  const search = new URLSearchParams();
  if (view.kind === 'retailer') search.set('retailer', view.id);
  else {
    if (view.query !== '') search.set('q', view.query);
    if (view.category !== '') search.set('category', view.category);
    if (view.country !== '') search.set('country', view.country);
  }
  const query = search.toString();
  return query === '' ? '/' : `/?${query}`;
}
