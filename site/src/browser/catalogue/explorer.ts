// The explorer page: selects the screen for the URL and navigates between screens. Links are real links; only unmodified
// clicks on them are intercepted.

import { ApiError, OfferbookClient, TokenError } from '@offerbook/client';
import { element } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import { findToken, forgetToken, storeToken } from '../page-token.ts';
import { Catalogue } from './catalogue.ts';
import { failureNote } from './failure-note.ts';
import { FeedScreen } from './feed-screen.ts';
import { ListScreen } from './list-screen.ts';
import { backLink, noSuchRetailer, retailerScreen } from './retailer-screen.ts';
import { staleScreen, tokenScreen } from './token-screen.ts';
import { EVERYTHING, type ListView, parseView, printView, type RetailerView, type View } from './view.ts';

/** The reader's scroll position and list length, stored in the history entry. */
interface ScrollState {
  readonly scrollY: number;
  readonly shownMax: number;
}

interface Open {
  readonly catalogue: Catalogue;
  readonly list: ListScreen;
}

const TITLE = 'Offerbook';
/** The scroll position is saved once it has not changed for this long. */
const SCROLL_REST_MS = 200;

class Explorer {
  readonly #main: HTMLElement;
  readonly #feed = SETTINGS.feedPath === undefined ? undefined : new FeedScreen(SETTINGS.feedPath);
  #view: View = EVERYTHING;
  #lastList: ListView = EVERYTHING;
  #lastRetailer: string | undefined;
  /** Undefined while the page asks for a token. */
  #open: Open | undefined;

  constructor(main: HTMLElement) {
    this.#main = main;
  }

  start(): void {
    history.scrollRestoration = 'manual';
    addEventListener('popstate', () => this.#show(parseView(location.search), true));
    let rest: ReturnType<typeof setTimeout> | undefined;
    addEventListener('scroll', () => {
      clearTimeout(rest);
      rest = setTimeout(() => this.#saveScroll(), SCROLL_REST_MS);
    });
    document.addEventListener('click', (event) => this.#follow(event));
    const token = findToken();
    if (token === undefined) this.#askForToken();
    else this.#begin(token);
  }

  #begin(token: string): void {
    try {
      this.#open = this.#openCatalogue(token);
      this.#show(parseView(location.search), true);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#askForToken(error.message);
    }
  }

  #openCatalogue(token: string): Open {
    // The page shows failures and retries with a countdown, so turn off the client's own retries.
    const client = new OfferbookClient({ baseUrl: location.origin, token, retry: { attemptsMax: 1 } });
    const catalogue = new Catalogue(client, () => this.#catalogueChanged());
    return { catalogue, list: new ListScreen(catalogue, (view, kind) => this.#search(view, kind)) };
  }

  #show(requested: View, isReturning = false): void {
    const hasView = requested.kind !== 'transactions' || this.#feed !== undefined;
    const view = hasView ? requested : EVERYTHING;
    this.#view = view;
    this.#feed?.stop();
    if (this.#open === undefined) return;
    if (view.kind === 'transactions') this.#showFeed();
    else if (view.kind === 'retailer') void this.#showRetailer(this.#open, view, isReturning);
    else this.#showList(this.#open, view, isReturning);
  }

  #showFeed(): void {
    if (this.#feed === undefined) return;
    document.title = `Transactions · ${TITLE}`;
    this.#put(this.#feed.node);
    this.#feed.start();
    scrollTo(0, 0);
    this.#focus('h1');
  }

  #showList({ list, catalogue }: Open, view: ListView, isReturning: boolean): void {
    const saved = isReturning ? (history.state as ScrollState | null) : null;
    document.title = TITLE;
    this.#lastList = view;
    list.show(view, saved?.shownMax);
    this.#put(list.node);
    void catalogue.load();
    scrollTo(0, saved?.scrollY ?? 0);
    if (isReturning && this.#lastRetailer !== undefined) {
      this.#focus(`[data-retailer="${CSS.escape(this.#lastRetailer)}"] a`);
    }
  }

  async #showRetailer(open: Open, view: RetailerView, isReturning: boolean): Promise<void> {
    const { id, country } = view;
    const isCurrent = () => this.#open === open && this.#view === view;
    // If the reader arrived through a shared URL, the back link opens the list for the same country.
    const from = this.#lastList === EVERYTHING ? { ...EVERYTHING, country } : this.#lastList;
    this.#lastRetailer = id;
    try {
      const finding = open.catalogue.find(id);
      if (!(await isQuick(finding)) && isCurrent()) this.#put(loadingScreen());
      const retailer = await finding;
      if (!isCurrent()) return;
      document.title = retailer === undefined ? TITLE : `${withoutDirections(retailer.name)} · ${TITLE}`;
      this.#put(retailer === undefined ? noSuchRetailer() : retailerScreen(retailer, from, country));
      scrollTo(0, isReturning ? ((history.state as ScrollState | null)?.scrollY ?? 0) : 0);
      if (!isReturning) this.#focus('h1');
    } catch (error) {
      if (!isCurrent() || this.#isRejectedToken(error)) return;
      const retry = () => void this.#showRetailer(open, view, isReturning);
      this.#put(element('div.screen.narrow', backLink(from), failureNote(error, retry)));
    }
  }

  #catalogueChanged(): void {
    if (this.#open === undefined) return;
    const { catalogue, list } = this.#open;
    if (catalogue.state.kind === 'failed' && this.#isRejectedToken(catalogue.state.error)) return;
    list.refresh();
  }

  /** If the service rejected the token, asks the reader for a different token and returns true. */
  #isRejectedToken(error: unknown): boolean {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return false;
    if (SETTINGS.token === undefined) {
      this.#askForToken('The service did not accept this token. It may be mistyped, expired or revoked.');
    } else {
      this.#open = undefined;
      this.#put(staleScreen());
    }
    return true;
  }

  #askForToken(problem?: string): void {
    this.#open = undefined;
    forgetToken();
    document.title = TITLE;
    this.#put(
      tokenScreen(problem, (token) => {
        storeToken(token);
        this.#begin(token);
      }),
    );
    if (problem !== undefined) this.#main.querySelector('input')?.focus();
  }

  #search(view: ListView, kind: 'typed' | 'chosen'): void {
    if (kind === 'chosen') {
      this.#go(view);
    } else {
      history.replaceState(null, '', printView(view));
      this.#view = view;
      this.#lastList = view;
      this.#open?.list.show(view);
    }
  }

  #go(view: View): void {
    this.#saveScroll();
    history.pushState(null, '', printView(view));
    this.#show(view);
  }

  #saveScroll(): void {
    if (this.#open === undefined) return;
    const saved: ScrollState = { scrollY, shownMax: this.#open.list.shownMax };
    history.replaceState(saved, '');
  }

  #follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isModified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (link === null || isModified || link.target !== '' || this.#open === undefined) return;
    if (link.origin !== location.origin || link.pathname !== '/' || link.hash !== '') return;
    event.preventDefault();
    this.#go(parseView(link.search));
  }

  #put(screen: HTMLElement): void {
    if (this.#main.firstElementChild !== screen) this.#main.replaceChildren(screen);
  }

  /** Moves the focus, so that keyboard users and screen readers continue from there. */
  #focus(selector: string): void {
    this.#main.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  }
}

function loadingScreen(): HTMLElement {
  const status = element('p.status', { role: 'status' }, 'Loading…');
  return element('div.screen.narrow', status);
}

/** True if the promise settles within 100 ms; the page then does not show "Loading…". */
function isQuick(work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 100))]);
}

/** Removes bidirectional control characters, because a document title cannot contain an element that isolates them. */
function withoutDirections(name: string): string {
  return name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').slice(0, 100);
}

const main = document.querySelector<HTMLElement>('.explorer');
if (main === null) throw new Error('the page has no element for the explorer');
new Explorer(main).start();
