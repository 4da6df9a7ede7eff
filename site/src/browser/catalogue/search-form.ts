// The form for search, filters and sort order. The form reports every change to its caller; show() sets the form's state.

import { printCount } from '@offerbook/wire/count.ts';
import { fold } from '@offerbook/wire/fold.ts';
import { element } from '../element.ts';
import { countryName } from './country-name.ts';
import type { Facet, Selection } from './selection.ts';
import { DEAL_KINDS, type DealKind, EVERYTHING, type ListView, oneOf, SORTS, type Sort } from './view.ts';

/** `typed` is a keystroke; `chosen` is a changed filter, which the back button undoes. */
export type OnChange = (view: ListView, kind: 'typed' | 'chosen') => void;

const DEAL_LABELS: Record<DealKind, string> = {
  featured: 'Featured offers',
  cashback: 'Cashback',
  coupons: 'Coupons',
  promotions: 'Promotions',
};
const SORT_LABELS: Record<Sort, string> = { rate: 'Best rate', name: 'Name', ending: 'Ending soon' };

export function searchForm(onChange: OnChange) {
  const query = element('input', {
    id: 'q',
    type: 'search',
    placeholder: 'Search retailers',
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
    maxlength: 200,
  });
  const category = element('select', { id: 'category' });
  const country = element('select', { id: 'country' });
  const deals = fixedSelect('deals', 'All deals', DEAL_LABELS);
  const sort = fixedSelect('sort', 'Featured first', SORT_LABELS);
  /** Clears the search and all filters. Shown beside the number of results, so that the fields do not move. */
  const reset = element('button', { type: 'reset', form: 'search', class: 'quiet' }, 'Clear');
  /** Source of the current category and country options. */
  let offered: { readonly selection: Selection; readonly isWhole: boolean } | undefined;
  const node = element(
    'form',
    { id: 'search', role: 'search', class: 'search row', 'aria-label': 'Retailers' },
    field('q', 'Search', query, 'grow'),
    field('category', 'Category', category),
    field('country', 'Country', country),
    field('deals', 'Kind of deal', deals),
    field('sort', 'Order', sort),
  );
  query.addEventListener('input', () => onChange(read(), 'typed'));
  for (const select of [category, country, deals, sort]) {
    select.addEventListener('change', () => onChange(read(), 'chosen'));
  }
  node.addEventListener('submit', (event) => event.preventDefault());
  node.addEventListener('reset', (event) => {
    event.preventDefault();
    onChange(EVERYTHING, 'chosen');
    query.focus();
  });

  function read(): ListView {
    return {
      kind: 'list',
      query: query.value,
      category: category.value,
      country: country.value,
      deals: oneOf(DEAL_KINDS, deals.value),
      sort: oneOf(SORTS, sort.value),
    };
  }

  /** Options show counts only if all retailers are loaded (`isWhole`). */
  function show(view: ListView, selection: Selection, isWhole: boolean): void {
    // Setting the same value again would move the caret to the end.
    if (query.value !== view.query) query.value = view.query;
    if (offered?.selection !== selection || offered.isWhole !== isWhole) {
      offered = { selection, isWhole };
      setOptions(category, 'All categories', selection.categories, isWhole, (value) => value);
      setOptions(country, 'All countries', selection.countries, isWhole, countryName);
    }
    choose(category, view.category);
    choose(country, view.country);
    deals.value = view.deals;
    sort.value = view.sort;
    sort.options[0]?.replaceChildren(view.query.trim() === '' ? 'Featured first' : 'Best match');
    reset.hidden = Object.values({ ...view, kind: '' }).every((value) => value === '');
  }

  return { node, reset, show };
}

function field(id: string, label: string, control: HTMLElement, className = ''): HTMLElement {
  return element(
    'div',
    { class: `field ${className}` },
    element('label', { for: id, class: 'unseen' }, label),
    control,
  );
}

function fixedSelect(
  id: string,
  initial: string,
  labels: Readonly<Record<string, string>>,
): HTMLSelectElement {
  return element('select', { id }, ...options(initial, Object.entries(labels)));
}

function options(initial: string, labels: readonly (readonly [value: string, label: string])[]) {
  return [['', initial] as const, ...labels].map(([value, label]) => element('option', { value }, label));
}

function setOptions(
  select: HTMLSelectElement,
  all: string,
  facets: readonly Facet[],
  isWhole: boolean,
  label: (value: string) => string,
): void {
  const labels = facets
    .map(({ value, count }) => [value, label(value) + (isWhole ? ` (${printCount(count)})` : '')] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
  select.replaceChildren(...options(all, labels));
}

/** Selects a value from the URL. Adds it as an option if no retailer has it, so that the reader sees the filter. */
function choose(select: HTMLSelectElement, value: string): void {
  const known = [...select.options].find((option) => fold(option.value) === fold(value));
  if (known === undefined) select.append(element('option', { value }, value));
  select.value = known?.value ?? value;
}
