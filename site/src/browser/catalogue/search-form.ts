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

export class SearchForm {
  readonly node: HTMLFormElement;
  readonly #query = element('input', {
    id: 'q',
    type: 'search',
    placeholder: 'Search retailers',
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
    maxlength: 200,
  });
  readonly #category = element('select', { id: 'category' });
  readonly #country = element('select', { id: 'country' });
  readonly #deals = fixedSelect('deals', 'All deals', DEAL_LABELS);
  readonly #sort = fixedSelect('sort', 'Featured first', SORT_LABELS);
  /** Clears the search and all filters. Shown beside the number of results, so that the fields do not move. */
  readonly reset = element('button', { type: 'reset', form: 'search', class: 'quiet' }, 'Clear');
  /** Source of the current category and country options. */
  #offered: { readonly selection: Selection; readonly isWhole: boolean } | undefined;

  constructor(onChange: OnChange) {
    this.node = element(
      'form',
      { id: 'search', role: 'search', class: 'search row', 'aria-label': 'Retailers' },
      field('q', 'Search', this.#query, 'grow'),
      field('category', 'Category', this.#category),
      field('country', 'Country', this.#country),
      field('deals', 'Kind of deal', this.#deals),
      field('sort', 'Order', this.#sort),
    );
    this.#query.addEventListener('input', () => onChange(this.#read(), 'typed'));
    for (const select of [this.#category, this.#country, this.#deals, this.#sort]) {
      select.addEventListener('change', () => onChange(this.#read(), 'chosen'));
    }
    this.node.addEventListener('submit', (event) => event.preventDefault());
    this.node.addEventListener('reset', (event) => {
      event.preventDefault();
      onChange(EVERYTHING, 'chosen');
      this.#query.focus();
    });
  }

  /** Options show counts only if all retailers are loaded (`isWhole`). */
  show(view: ListView, selection: Selection, isWhole: boolean): void {
    // Setting the same value again would move the caret to the end.
    if (this.#query.value !== view.query) this.#query.value = view.query;
    if (this.#offered?.selection !== selection || this.#offered.isWhole !== isWhole) {
      this.#offered = { selection, isWhole };
      setOptions(this.#category, 'All categories', selection.categories, isWhole, (value) => value);
      setOptions(this.#country, 'All countries', selection.countries, isWhole, countryName);
    }
    choose(this.#category, view.category);
    choose(this.#country, view.country);
    this.#deals.value = view.deals;
    this.#sort.value = view.sort;
    this.#sort.options[0]?.replaceChildren(view.query.trim() === '' ? 'Featured first' : 'Best match');
    this.reset.hidden = Object.values({ ...view, kind: '' }).every((value) => value === '');
  }

  #read(): ListView {
    return {
      kind: 'list',
      query: this.#query.value,
      category: this.#category.value,
      country: this.#country.value,
      deals: oneOf(DEAL_KINDS, this.#deals.value),
      sort: oneOf(SORTS, this.#sort.value),
    };
  }
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
