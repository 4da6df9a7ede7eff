// Search, category and country. Reports every change; what it shows is set from outside, by the address.

import { element } from '../element.ts';
import { fold } from '../fold.ts';
import { printNumber } from './count.ts';
import { countryName } from './country-name.ts';
import type { Facet, Selection } from './selection.ts';
import { EVERYTHING, type ListView } from './view.ts';

/** A change of words follows every key; one of a filter is a step that the back button undoes. */
export type OnChange = (view: ListView, kind: 'typed' | 'chosen') => void;

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
  readonly #reset = element('button', { type: 'reset', class: 'quiet' }, 'Clear');
  #offered: Selection | undefined;

  constructor(onChange: OnChange) {
    this.node = element(
      'form',
      { role: 'search', class: 'search', 'aria-label': 'Retailers' },
      field('q', 'Search', this.#query, 'grow'),
      field('category', 'Category', this.#category),
      field('country', 'Country', this.#country),
      this.#reset,
    );
    this.#query.addEventListener('input', () => onChange(this.#read(), 'typed'));
    this.#category.addEventListener('change', () => onChange(this.#read(), 'chosen'));
    this.#country.addEventListener('change', () => onChange(this.#read(), 'chosen'));
    this.node.addEventListener('submit', (event) => event.preventDefault());
    this.node.addEventListener('reset', (event) => {
      event.preventDefault();
      onChange(EVERYTHING, 'chosen');
      this.#query.focus();
    });
  }

  show(view: ListView, selection: Selection): void {
    // Writing the same text again would move the caret to its end.
    if (this.#query.value !== view.query) this.#query.value = view.query;
    if (this.#offered !== selection) {
      this.#offered = selection;
      setOptions(this.#category, 'All categories', selection.categories, (value) => value);
      setOptions(this.#country, 'All countries', selection.countries, countryName);
    }
    choose(this.#category, view.category);
    choose(this.#country, view.country);
    this.#reset.hidden = view.query === '' && view.category === '' && view.country === '';
  }

  #read(): ListView {
    return {
      kind: 'list',
      query: this.#query.value,
      category: this.#category.value,
      country: this.#country.value,
    };
  }
}

function field(id: string, label: string, control: HTMLElement, className = ''): HTMLElement {
  return element(
    'div',
    { class: `field ${className}`.trim() },
    element('label', { for: id, class: 'unseen' }, label),
    control,
  );
}

function setOptions(
  select: HTMLSelectElement,
  all: string,
  facets: readonly Facet[],
  label: (value: string) => string,
): void {
  const options = facets
    .map(({ value, count }) => ({ value, text: `${label(value)} (${printNumber(count)})` }))
    .sort((a, b) => a.text.localeCompare(b.text, 'en'));
  select.replaceChildren(
    element('option', { value: '' }, all),
    ...options.map(({ value, text }) => element('option', { value }, text)),
  );
}

/** A value that no retailer has becomes a choice of its own: the address said so, and the reader must be able to see it. */
function choose(select: HTMLSelectElement, value: string): void {
  const options = [...select.options];
  const known = options.find((option) => fold(option.value) === fold(value));
  if (known === undefined) select.append(element('option', { value }, value));
  select.value = known?.value ?? value;
}
