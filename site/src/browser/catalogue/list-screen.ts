// The list of retailers with its search form. Shows the retailers loaded so far, in batches, and suggestions if nothing
// matches.

import type { Retailer } from '@offerbook/client';
import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { button, element, isolated } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import type { Catalogue } from './catalogue.ts';
import { countryName } from './country-name.ts';
import { failureNote } from './failure-note.ts';
import { retailerCard } from './retailer-card.ts';
import { type OnChange, SearchForm } from './search-form.ts';
import { type Found, Selection } from './selection.ts';
import { EVERYTHING, type ListView, printView } from './view.ts';

const CARDS_AT_ONCE = 60;
const SKELETONS = 12;

export class ListScreen {
  readonly node: HTMLElement;
  readonly #catalogue: Catalogue;
  readonly #onChange: OnChange;
  readonly #form: SearchForm;
  readonly #status = element('p.status', { role: 'status' });
  readonly #before = element('div.before');
  readonly #results = element('ul.cards');
  readonly #after = element('div.after.stack');
  #selection = new Selection([]);
  #selected: readonly Retailer[] = [];
  readonly #cards = new Map<Retailer, HTMLElement>();
  readonly #featuredTitle = groupTitle('Outstanding deals', 'Featured by this service.');
  readonly #othersTitle = groupTitle('More retailers');
  readonly #resultsTitle = groupTitle('Search results');
  #failure: { readonly error: unknown; readonly node: HTMLElement } | undefined;
  #view: ListView = EVERYTHING;
  #shownMax = CARDS_AT_ONCE;

  constructor(catalogue: Catalogue, onChange: OnChange) {
    this.#catalogue = catalogue;
    this.#onChange = onChange;
    this.#form = new SearchForm(onChange);
    this.node = element(
      'div.screen',
      element(
        'div.hero.stack',
        element('h1', { tabindex: -1 }, 'Cashback, coupons and promotions'),
        element(
          'p.lead',
          'What your users can activate right now, as the API returns it. ',
          SETTINGS.feedPath === undefined
            ? undefined
            : element('a', { href: printView({ kind: 'transactions' }) }, 'Watch transactions change'),
        ),
      ),
      this.#form.node,
      element('div.list-head.row', this.#status, this.#form.reset),
      this.#before,
      this.#results,
      this.#after,
    );
  }

  /** Number of cards to show; saved with the scroll position. */
  get shownMax(): number {
    return this.#shownMax;
  }

  show(view: ListView, shownMax = CARDS_AT_ONCE): void {
    // The filters decide which offers a card shows, so a change needs new cards.
    const { category, country, deals } = this.#view;
    const isSameOffers = view.category === category && view.country === country && view.deals === deals;
    if (!isSameOffers) this.#cards.clear();
    this.#view = view;
    this.#shownMax = shownMax;
    this.refresh();
  }

  /** Shows the retailers loaded so far. */
  refresh(): void {
    const { retailers, state } = this.#catalogue;
    if (this.#selected !== retailers) {
      this.#selection = new Selection(retailers);
      this.#selected = retailers;
    }
    this.#form.show(this.#view, this.#selection, state.kind === 'complete');
    const found = this.#selection.find(this.#view);
    const isLoading = state.kind === 'loading' || state.kind === 'waiting';
    this.node.setAttribute('aria-busy', String(isLoading));
    this.#status.replaceChildren(...this.#statusWords(found.length));
    this.#before.replaceChildren(...(state.kind === 'failed' ? [this.#failureNote(state.error)] : []));
    if (isLoading && (found.length === 0 || !this.#catalogue.isSlow)) {
      this.#results.replaceChildren(...Array.from({ length: SKELETONS }, skeleton));
    } else {
      this.#putItems(this.#items(found));
    }
    this.#after.replaceChildren(...this.#afterwards(found));
  }

  /** Reuses existing cards, so that their logos are not loaded again. */
  #items(found: readonly Found[]): HTMLElement[] {
    const cards = found.slice(0, this.#shownMax).map((one) => {
      const card = this.#cards.get(one.retailer) ?? retailerCard(one, this.#view);
      this.#cards.set(one.retailer, card);
      return card;
    });
    const featured = found.filter((one) => one.featured !== undefined).length;
    const { query, sort } = this.#view;
    const isSearch = query.trim() !== '';
    const isGrouped = sort === '' && !isSearch && featured > 0 && featured < found.length;
    this.#results.classList.toggle('grouped', isGrouped);
    if (isSearch && cards.length > 0) return [this.#resultsTitle, ...cards];
    if (!isGrouped) return cards;
    const others = cards.slice(featured);
    return [
      this.#featuredTitle,
      ...cards.slice(0, featured),
      ...(others.length === 0 ? [] : [this.#othersTitle, ...others]),
    ];
  }

  #putItems(items: readonly HTMLElement[]): void {
    // Keep the cards that do not move, to avoid laying them out again.
    const { children } = this.#results;
    let kept = 0;
    while (kept < items.length && children[kept] === items[kept]) kept++;
    const focused = document.activeElement;
    while (children.length > kept) this.#results.lastElementChild?.remove();
    this.#results.append(...items.slice(kept));
    // Moving a card removes its focus.
    if (focused instanceof HTMLElement && this.#results.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }

  /** Returns the number of matches. While loading is paused, also states how many retailers were searched. */
  #statusWords(found: number): (string | Node)[] {
    const { query, category, country } = this.#view;
    const { retailers, state } = this.#catalogue;
    if (state.kind === 'failed') return ['Not all retailers could be loaded.'];
    if (state.kind !== 'complete' && state.kind !== 'paused') return ['Loading…'];
    const words: (string | Node)[] = [printCountOf(found, 'retailer')];
    if (state.kind === 'paused') words.push(` among the first ${printCount(retailers.length)}`);
    if (query.trim() !== '') words.push(' for “', isolated(query.trim()), '”');
    if (category !== '') words.push(' in ', isolated(category));
    if (country !== '') words.push(category === '' ? ' in ' : ', ', isolated(countryName(country)));
    return words;
  }

  #afterwards(found: readonly Found[]): Node[] {
    const { retailers, state } = this.#catalogue;
    const nodes: Node[] = [];
    const hidden = found.length - this.#shownMax;
    if (hidden > 0) {
      const more = printCount(Math.min(hidden, CARDS_AT_ONCE));
      nodes.push(button(`Show ${more} more`, () => this.#showMore(), { class: 'wide' }));
    }
    if (hidden > 0 && state.kind === 'complete') {
      const words = `${printCount(this.#shownMax)} of ${printCount(found.length)} shown`;
      nodes.push(element('p.muted', words));
    }
    if (state.kind === 'paused') nodes.push(this.#moreToLoad());
    else if (found.length === 0 && state.kind === 'complete')
      nodes.push(retailers.length === 0 ? emptyCatalogue() : this.#nothingFound());
    return nodes;
  }

  #showMore(): void {
    const firstNew = this.#shownMax;
    this.#shownMax += CARDS_AT_ONCE;
    this.refresh();
    // The button may be gone, so move the focus to the first new card.
    this.#results.querySelectorAll('.card')[firstNew]?.querySelector('a')?.focus({ preventScroll: true });
  }

  /** Keeps one note per failure, so that its countdown continues while the reader types. */
  #failureNote(error: unknown): HTMLElement {
    if (this.#failure === undefined || this.#failure.error !== error) {
      this.#failure = { error, node: failureNote(error, () => void this.#catalogue.load()) };
    }
    return this.#failure.node;
  }

  #moreToLoad(): HTMLElement {
    const loaded = printCount(this.#catalogue.retailers.length);
    return element(
      'div.notice',
      element('p', `Only the first ${loaded} retailers are loaded and searched.`),
      button('Load more', () => void this.#catalogue.load()),
    );
  }

  #nothingFound(): HTMLElement {
    const { query, category, country, deals } = this.#view;
    const suggestions: HTMLElement[] = [];
    const suggest = (label: string, change: Partial<ListView>) => {
      const view = { ...this.#view, ...change };
      const { length } = this.#selection.find(view);
      if (length === 0) return;
      suggestions.push(button(`${label} (${printCount(length)})`, () => this.#onChange(view, 'chosen')));
    };
    if (country !== '') suggest('Search in all countries', { country: '' });
    if (category !== '') suggest('Search in all categories', { category: '' });
    if (deals !== '') suggest('Search all kinds of deals', { deals: '' });
    if (query !== '' && (category !== '' || country !== '' || deals !== ''))
      suggest('Remove the search words', { query: '' });
    suggest('Show all retailers', EVERYTHING);
    return element(
      'div.notice',
      element('h2', 'Nothing matches'),
      element('p', 'Search matches names, websites and categories, including parts of words.'),
      element('div.row', ...suggestions),
    );
  }
}

/** Heading of a group of cards. */
function groupTitle(title: string, words?: string): HTMLElement {
  const note = words === undefined ? undefined : element('p.muted', words);
  return element('li.group.row', element('h2', title), note);
}

function emptyCatalogue(): HTMLElement {
  return element(
    'div.notice',
    element('h2', 'The catalogue is empty'),
    element('p', 'No retailer has an active deal. To add retailers, import a file:'),
    element('pre', element('code', 'offerbook import catalogue FILE')),
  );
}

function skeleton(): HTMLElement {
  return element('li.card.panel.skeleton', { 'aria-hidden': true });
}
