// The explorer page: selects the screen for the URL and navigates between screens. Links are real links; only unmodified
// clicks on them are intercepted.

import { ApiError, OfferbookClient, TokenError } from '@offerbook/client';
import { element } from '../element.ts';
import type { PageToken } from '../page-token.ts';
import { Catalogue } from './catalogue.ts';
import type { Drawing } from './drawing.ts';
import { failureNote } from './failure-note.ts';
import { FeedScreen } from './feed-screen.ts';
import { ListScreen } from './list-screen.ts';
import { noSuchRetailer, retailerScreen, wayBack } from './retailer-screen.ts';
import { staleScreen, tokenScreen } from './token-screen.ts';
import { EVERYTHING, type ListView, parseView, printView, type RetailerView, type View } from './view.ts';

/** The reader's scroll position and list length, stored in the history entry. */
interface Place {
  readonly scrollY: number;
  readonly shownMax: number;
}

interface Open {
  readonly catalogue: Catalogue;
  readonly list: ListScreen;
}

const TITLE = 'Offerbook';
/** Save the scroll position after it has not changed for this long. */
const REST_MS = 200;

export interface ExplorerParts {
  readonly main: HTMLElement;
  readonly token: PageToken;
  readonly drawing: Drawing;
  /** Path of the sandbox's transaction feed; undefined elsewhere. */
  readonly feedPath: string | undefined;
}

export class Explorer {
  readonly #main: HTMLElement;
  readonly #token: PageToken;
  readonly #drawing: Drawing;
  /** Undefined without a feed. */
  readonly #feed: FeedScreen | undefined;
  #view: View = EVERYTHING;
  #lastList: ListView = EVERYTHING;
  #lastRetailer: string | undefined;
  #open: Open | undefined;

  constructor({ main, token, drawing, feedPath }: ExplorerParts) {
    this.#main = main;
    this.#token = token;
    this.#drawing = drawing;
    this.#feed = feedPath === undefined ? undefined : new FeedScreen(feedPath);
  }

  start(): void {
    history.scrollRestoration = 'manual';
    addEventListener('popstate', () => this.#show(parseView(location.search), true));
    let rest: ReturnType<typeof setTimeout> | undefined;
    addEventListener('scroll', () => {
      clearTimeout(rest);
      rest = setTimeout(() => this.#keepPlace(), REST_MS);
    });
    document.addEventListener('click', (event) => this.#follow(event));
    this.#begin(this.#token.text);
  }

  /** Opens the catalogue with a token, or asks for one. */
  #begin(token: string | undefined): void {
    this.#open = undefined;
    if (token === undefined) {
      this.#askForToken();
      return;
    }
    try {
      this.#open = this.#openCatalogue(token);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#token.forget();
      this.#askForToken(error.message);
      return;
    }
    this.#show(parseView(location.search), true);
  }

  #openCatalogue(token: string): Open {
    // The page shows failures and retries with a countdown, so turn off the client's own retries.
    const client = new OfferbookClient({ baseUrl: location.origin, token, retry: { attemptsMax: 1 } });
    const catalogue = new Catalogue(client, () => this.#catalogueChanged());
    const onChange = (view: ListView, kind: 'typed' | 'chosen') => this.#search(view, kind);
    const hasFeed = this.#feed !== undefined;
    return { catalogue, list: new ListScreen({ catalogue, drawing: this.#drawing, onChange, hasFeed }) };
  }

  #show(asked: View, returning = false): void {
    // Only a sandbox has transactions to show.
    const view = asked.kind === 'transactions' && this.#feed === undefined ? EVERYTHING : asked;
    this.#view = view;
    this.#feed?.stop();
    if (this.#open === undefined) return;
    if (view.kind === 'transactions') this.#showFeed();
    else if (view.kind === 'retailer') void this.#showRetailer(view, returning);
    else this.#showList(this.#open, view, returning);
  }

  #showFeed(): void {
    if (this.#feed === undefined) return;
    document.title = `Transactions · ${TITLE}`;
    this.#put(this.#feed.node);
    this.#feed.start();
    scrollTo(0, 0);
    this.#main.querySelector('h1')?.focus({ preventScroll: true });
  }

  #showList({ list, catalogue }: Open, view: ListView, returning: boolean): void {
    const place = returning ? (history.state as Place | null) : null;
    document.title = TITLE;
    this.#lastList = view;
    list.show(view, place?.shownMax);
    this.#put(list.node);
    void catalogue.load();
    scrollTo(0, place?.scrollY ?? 0);
    if (returning && this.#lastRetailer !== undefined) this.#focusCard(this.#lastRetailer);
  }

  #focusCard(id: string): void {
    this.#main
      .querySelector<HTMLElement>(`[data-retailer="${CSS.escape(id)}"] a`)
      ?.focus({ preventScroll: true });
  }

  async #showRetailer(view: RetailerView, returning: boolean): Promise<void> {
    const { id, country } = view;
    const open = this.#open;
    const isCurrent = () => this.#open === open && this.#view === view;
    if (open === undefined) return;
    // A reader who arrived by a shared URL goes back to the list for the same country.
    const from = this.#lastList === EVERYTHING ? { ...EVERYTHING, country } : this.#lastList;
    this.#lastRetailer = id;
    try {
      const finding = open.catalogue.find(id);
      if (!(await isQuick(finding)) && isCurrent())
        this.#put(
          element(
            'div',
            { class: 'screen narrow' },
            element('p', { class: 'status', role: 'status' }, 'Loading…'),
          ),
        );
      const retailer = await finding;
      if (!isCurrent()) return;
      document.title = retailer === undefined ? TITLE : `${withoutDirections(retailer.name)} · ${TITLE}`;
      this.#put(
        retailer === undefined
          ? noSuchRetailer()
          : retailerScreen(retailer, { from, country, drawing: this.#drawing, now: new Date() }),
      );
      scrollTo(0, returning ? ((history.state as Place | null)?.scrollY ?? 0) : 0);
      // Move the focus to the heading, so that screen readers start there.
      if (!returning) this.#main.querySelector('h1')?.focus({ preventScroll: true });
    } catch (error) {
      if (!isCurrent() || this.#refused(error)) return;
      const retry = () => void this.#showRetailer(view, returning);
      this.#put(element('div', { class: 'screen narrow' }, wayBack(from), failureNote(error, retry)));
    }
  }

  #catalogueChanged(): void {
    if (this.#open === undefined) return;
    const { catalogue, list } = this.#open;
    if (catalogue.state.kind === 'failed' && this.#refused(catalogue.state.error)) return;
    list.refresh();
  }

  /** If the service rejected the token, asks the reader for another one and returns true. */
  #refused(error: unknown): boolean {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return false;
    this.#open = undefined;
    if (this.#token.given) this.#put(staleScreen());
    else {
      this.#token.forget();
      this.#askForToken('The service did not accept this token. It may be mistyped, expired or revoked.');
    }
    return true;
  }

  #askForToken(problem?: string): void {
    document.title = TITLE;
    this.#put(
      tokenScreen(problem, (token) => {
        this.#token.keep(token);
        this.#begin(token);
      }),
    );
    if (problem !== undefined) this.#main.querySelector('input')?.focus();
  }

  #search(view: ListView, kind: 'typed' | 'chosen'): void {
    if (kind === 'chosen') this.#go(view);
    else {
      history.replaceState(null, '', printView(view));
      this.#view = view;
      this.#lastList = view;
      this.#open?.list.show(view);
    }
  }

  #go(view: View): void {
    this.#keepPlace();
    history.pushState(null, '', printView(view));
    this.#show(view);
  }

  #keepPlace(): void {
    const place: Place = { scrollY, shownMax: this.#open?.list.shownMax ?? 0 };
    if (this.#open !== undefined) history.replaceState(place, '');
  }

  #follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const modified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (link === null || modified || link.target !== '' || this.#open === undefined) return;
    if (link.origin !== location.origin || link.pathname !== '/' || link.hash !== '') return;
    event.preventDefault();
    this.#go(parseView(link.search));
  }

  #put(screen: HTMLElement): void {
    if (this.#main.firstElementChild !== screen) this.#main.replaceChildren(screen);
  }
}

/** True if the work settles within 100 ms: then the page shows no "Loading…". */
function isQuick(work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 100))]);
}

/** Removes bidirectional control characters: a document title cannot isolate them in an element. */
function withoutDirections(name: string): string {
  return name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').slice(0, 100);
}
