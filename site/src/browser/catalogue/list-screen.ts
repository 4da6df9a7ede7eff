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
import { type OnChange, searchForm } from './search-form.ts';
import { type Found, Selection } from './selection.ts';
import { EVERYTHING, type ListView, printView } from './view.ts';

const CARDS_AT_ONCE = 60;
const SKELETONS = 12;

export type ListScreen = ReturnType<typeof listScreen>;

export function listScreen({ loaded, load }: Catalogue, onChange: OnChange) {
  const form = searchForm(onChange);
  const status = element('p.muted', { role: 'status' });
  const before = element('div.before');
  const results = element('ul.cards');
  const after = element('div.after.stack');
  const cards = new Map<Retailer, HTMLElement>();
  const featuredTitle = groupTitle('Outstanding deals', 'Featured by this service.');
  const othersTitle = groupTitle('More retailers');
  const resultsTitle = groupTitle('Search results');
  let selected: readonly Retailer[] = [];
  let selection = new Selection(selected);
  let failure: { readonly error: unknown; readonly node: HTMLElement } | undefined;
  let view = EVERYTHING;
  let shownMax = CARDS_AT_ONCE;
  const node = element(
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
    form.node,
    element('div.list-head.row', status, form.reset),
    before,
    results,
    after,
  );

  function show(wanted: ListView, cardsMax = CARDS_AT_ONCE): void {
    // The filters decide which offers a card shows, so a change needs new cards.
    const { category, country, deals } = view;
    const isSameOffers = wanted.category === category && wanted.country === country && wanted.deals === deals;
    if (!isSameOffers) cards.clear();
    view = wanted;
    shownMax = cardsMax;
    refresh();
  }

  /** Shows the retailers loaded so far. */
  function refresh(): void {
    const { retailers, state } = loaded;
    if (selected !== retailers) {
      selection = new Selection(retailers);
      selected = retailers;
    }
    form.show(view, selection, state.kind === 'complete');
    const found = selection.find(view);
    const isLoading = state.kind === 'loading' || state.kind === 'waiting';
    node.setAttribute('aria-busy', String(isLoading));
    status.replaceChildren(...statusWords(found.length));
    before.replaceChildren(...(state.kind === 'failed' ? [noteOf(state.error)] : []));
    if (isLoading && (found.length === 0 || !loaded.isSlow)) {
      results.replaceChildren(...Array.from({ length: SKELETONS }, skeleton));
    } else {
      putItems(items(found));
    }
    after.replaceChildren(...afterwards(found));
  }

  /** Reuses existing cards, so that their logos are not loaded again. */
  function items(found: readonly Found[]): HTMLElement[] {
    const shown = found.slice(0, shownMax).map((one) => {
      const card = cards.get(one.retailer) ?? retailerCard(one, view);
      cards.set(one.retailer, card);
      return card;
    });
    const featured = found.filter((one) => one.featured !== undefined).length;
    const { query, sort } = view;
    const isSearch = query.trim() !== '';
    const isGrouped = sort === '' && !isSearch && featured > 0 && featured < found.length;
    results.classList.toggle('grouped', isGrouped);
    if (isSearch && shown.length > 0) return [resultsTitle, ...shown];
    if (!isGrouped) return shown;
    const others = shown.slice(featured);
    return [
      featuredTitle,
      ...shown.slice(0, featured),
      ...(others.length === 0 ? [] : [othersTitle, ...others]),
    ];
  }

  function putItems(items: readonly HTMLElement[]): void {
    // Keep the cards that do not move, to avoid laying them out again.
    const { children } = results;
    let kept = 0;
    while (kept < items.length && children[kept] === items[kept]) kept++;
    const focused = document.activeElement;
    while (children.length > kept) results.lastElementChild?.remove();
    results.append(...items.slice(kept));
    // Moving a card removes its focus.
    if (focused instanceof HTMLElement && results.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }

  /** Returns the number of matches. While loading is paused, also states how many retailers were searched. */
  function statusWords(found: number): (string | Node)[] {
    const { query, category, country } = view;
    const { retailers, state } = loaded;
    if (state.kind === 'failed') return ['Not all retailers could be loaded.'];
    if (state.kind !== 'complete' && state.kind !== 'paused') return ['Loading…'];
    const words: (string | Node)[] = [printCountOf(found, 'retailer')];
    if (state.kind === 'paused') words.push(` among the first ${printCount(retailers.length)}`);
    if (query.trim() !== '') words.push(' for “', isolated(query.trim()), '”');
    if (category !== '') words.push(' in ', isolated(category));
    if (country !== '') words.push(category === '' ? ' in ' : ', ', isolated(countryName(country)));
    return words;
  }

  function afterwards(found: readonly Found[]): Node[] {
    const { retailers, state } = loaded;
    const nodes: Node[] = [];
    const hidden = found.length - shownMax;
    if (hidden > 0) {
      const more = printCount(Math.min(hidden, CARDS_AT_ONCE));
      nodes.push(button(`Show ${more} more`, () => showMore(), { class: 'wide' }));
    }
    if (hidden > 0 && state.kind === 'complete') {
      const words = `${printCount(shownMax)} of ${printCount(found.length)} shown`;
      nodes.push(element('p.muted', words));
    }
    if (state.kind === 'paused') nodes.push(moreToLoad());
    else if (found.length === 0 && state.kind === 'complete')
      nodes.push(retailers.length === 0 ? emptyCatalogue() : nothingFound());
    return nodes;
  }

  function showMore(): void {
    const firstNew = shownMax;
    shownMax += CARDS_AT_ONCE;
    refresh();
    // The button may be gone, so move the focus to the first new card.
    results.querySelectorAll('.card')[firstNew]?.querySelector('a')?.focus({ preventScroll: true });
  }

  /** Keeps one note per failure, so that its countdown continues while the reader types. */
  function noteOf(error: unknown): HTMLElement {
    if (failure === undefined || failure.error !== error) {
      failure = { error, node: failureNote(error, () => void load()) };
    }
    return failure.node;
  }

  function moreToLoad(): HTMLElement {
    const count = printCount(loaded.retailers.length);
    return element(
      'div.notice',
      element('p', `Only the first ${count} retailers are loaded and searched.`),
      button('Load more', () => void load()),
    );
  }

  function nothingFound(): HTMLElement {
    const { query, category, country, deals } = view;
    const suggestions: HTMLElement[] = [];
    const suggest = (label: string, change: Partial<ListView>) => {
      const wider = { ...view, ...change };
      const { length } = selection.find(wider);
      if (length === 0) return;
      suggestions.push(button(`${label} (${printCount(length)})`, () => onChange(wider, 'chosen')));
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

  return {
    node,
    /** Number of cards to show; saved with the scroll position. */
    shownMax: () => shownMax,
    show,
    refresh,
  };
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
