// The list of retailers with its search. Shows what the catalogue has so far, a part at a time, and what to
// do when nothing matches.

import type { Retailer } from '@offerbook/client';
import { button, element, isolated } from '../element.ts';
import type { Catalogue } from './catalogue.ts';
import { count, printNumber } from './count.ts';
import { countryName } from './country-name.ts';
import type { Drawing } from './drawing.ts';
import { failureNote } from './failure-note.ts';
import { retailerCard } from './retailer-card.ts';
import { type OnChange, SearchForm } from './search-form.ts';
import { type Found, Selection } from './selection.ts';
import { EVERYTHING, type ListView } from './view.ts';

const CARDS_AT_ONCE = 60;
const SKELETONS = 12;

export interface ListScreenOptions {
  readonly catalogue: Catalogue;
  readonly drawing: Drawing;
  readonly onChange: OnChange;
}

export class ListScreen {
  readonly node: HTMLElement;
  readonly #options: ListScreenOptions;
  readonly #form: SearchForm;
  readonly #status = element('p', { class: 'status', role: 'status' });
  readonly #results = element('ul', { class: 'cards' });
  readonly #after = element('div', { class: 'after' });
  #selection = new Selection([]);
  #selected: readonly Retailer[] = [];
  #cards = new Map<Retailer, HTMLElement>();
  #failure: { error: unknown; node: HTMLElement } | undefined;
  #view: ListView = EVERYTHING;
  #shownMax = CARDS_AT_ONCE;

  constructor(options: ListScreenOptions) {
    this.#options = options;
    this.#form = new SearchForm(options.onChange);
    this.node = element(
      'div',
      { class: 'screen' },
      element(
        'div',
        { class: 'hero' },
        element('h1', { tabindex: -1 }, 'Cashback, coupons and promotions'),
        element('p', { class: 'lead' }, 'What your users can activate right now, as the API returns it.'),
      ),
      this.#form.node,
      this.#status,
      this.#results,
      this.#after,
    );
  }

  /** How many cards are asked for: part of the reader's place, like the scroll position. */
  get shownMax(): number {
    return this.#shownMax;
  }

  show(view: ListView, shownMax = CARDS_AT_ONCE): void {
    // A card shows the best offer in a category and country, so others need other cards.
    if (view.category !== this.#view.category || view.country !== this.#view.country) this.#cards.clear();
    this.#view = view;
    this.#shownMax = shownMax;
    this.refresh();
  }

  /** Shows what the catalogue has by now. */
  refresh(): void {
    const { catalogue } = this.#options;
    if (this.#selected !== catalogue.retailers) {
      this.#selection = new Selection(catalogue.retailers);
      this.#selected = catalogue.retailers;
    }
    this.#form.show(this.#view, this.#selection);
    const found = this.#selection.find(this.#view);
    const loading = catalogue.state.kind === 'loading' || catalogue.state.kind === 'waiting';
    this.node.setAttribute('aria-busy', String(loading));
    if (found.length === 0 && loading) {
      this.#status.textContent = 'Loading…';
      this.#results.replaceChildren(...Array.from({ length: SKELETONS }, skeleton));
    } else {
      this.#status.replaceChildren(...this.#statusWords(found.length), loading ? ', loading more…' : '');
      this.#putCards(found.slice(0, this.#shownMax));
    }
    this.#after.replaceChildren(...this.#afterwards(found, loading));
  }

  /** Cards that were there before are used again: their logos need not be drawn anew. */
  #putCards(found: readonly Found[]): void {
    const now = new Date();
    const cards = found.map((one) => {
      const card = this.#cards.get(one.retailer) ?? retailerCard(one, this.#options.drawing, now);
      this.#cards.set(one.retailer, card);
      return card;
    });
    // Mostly more of the same is shown: what stands in its place need not be laid out again.
    const { children } = this.#results;
    let kept = 0;
    while (kept < cards.length && children[kept] === cards[kept]) kept++;
    const focused = document.activeElement;
    while (children.length > kept) this.#results.lastElementChild?.remove();
    this.#results.append(...cards.slice(kept));
    // Moving a card takes the focus away from it.
    if (focused instanceof HTMLElement && this.#results.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }

  #statusWords(found: number): (string | Node)[] {
    const { query, category, country } = this.#view;
    const words: (string | Node)[] = [count(found, 'retailer')];
    if (query.trim() !== '') words.push(' for “', isolated(query.trim()), '”');
    if (category !== '') words.push(' in ', isolated(category));
    if (country !== '') words.push(category === '' ? ' in ' : ', ', isolated(countryName(country)));
    return words;
  }

  #afterwards(found: readonly Found[], loading: boolean): Node[] {
    const { catalogue } = this.#options;
    const nodes: Node[] = [];
    const hidden = found.length - this.#shownMax;
    if (hidden > 0) {
      nodes.push(
        button(`Show ${printNumber(Math.min(hidden, CARDS_AT_ONCE))} more`, () => this.#showMore(), {
          class: 'wide',
        }),
      );
      nodes.push(
        element(
          'p',
          { class: 'muted' },
          `${printNumber(this.#shownMax)} of ${printNumber(found.length)} shown`,
        ),
      );
    }
    if (catalogue.state.kind === 'failed') {
      nodes.push(this.#failureNote(catalogue.state.error));
    } else if (catalogue.state.kind === 'paused') {
      nodes.push(this.#moreToLoad());
    } else if (found.length === 0 && !loading) {
      nodes.push(catalogue.retailers.length === 0 ? emptyCatalogue() : this.#nothingFound());
    }
    return nodes;
  }

  #showMore(): void {
    const firstNew = this.#shownMax;
    this.#shownMax += CARDS_AT_ONCE;
    this.refresh();
    // The button may be gone, and who uses a keyboard wants to go on from here.
    this.#results.children[firstNew]?.querySelector('a')?.focus({ preventScroll: true });
  }

  /** One note for one failure, so that its countdown goes on while the reader types. */
  #failureNote(error: unknown): HTMLElement {
    if (this.#failure !== undefined && this.#failure.error === error) return this.#failure.node;
    const node = failureNote(error, () => void this.#options.catalogue.load());
    this.#failure = { error, node };
    return node;
  }

  #moreToLoad(): HTMLElement {
    const { catalogue } = this.#options;
    return element(
      'div',
      { class: 'notice' },
      element(
        'p',
        {},
        `The first ${count(catalogue.retailers.length, 'retailer')} are loaded and searched. There are more.`,
      ),
      button('Load more', () => void catalogue.load()),
    );
  }

  #nothingFound(): HTMLElement {
    const { query, category, country } = this.#view;
    const ways: { label: string; view: ListView }[] = [];
    const offer = (label: string, change: Partial<ListView>) => {
      const view = { ...this.#view, ...change };
      const { length } = this.#selection.find(view);
      if (length > 0) ways.push({ label: `${label} (${printNumber(length)})`, view });
    };
    if (country !== '') offer('Search in all countries', { country: '' });
    if (category !== '') offer('Search in all categories', { category: '' });
    if (query !== '' && (category !== '' || country !== '')) offer('Drop the search words', { query: '' });
    offer('Show all retailers', { query: '', category: '', country: '' });
    return element(
      'div',
      { class: 'notice' },
      element('h2', {}, 'Nothing matches'),
      element('p', {}, 'Retailers are found by name, website and category; parts of words are enough.'),
      element(
        'div',
        { class: 'actions' },
        ...ways.map(({ label, view }) => button(label, () => this.#options.onChange(view, 'chosen'))),
      ),
    );
  }
}

function emptyCatalogue(): HTMLElement {
  return element(
    'div',
    { class: 'notice' },
    element('h2', {}, 'The catalogue is empty'),
    element('p', {}, 'No retailer has an active deal. Retailers come in with an import:'),
    element('pre', {}, element('code', {}, 'npx offerbook import catalogue FILE')),
  );
}

function skeleton(): HTMLElement {
  return element('li', { class: 'card skeleton', 'aria-hidden': true });
}
