// The explorer page: selects the screen for the URL and navigates between screens. Links are real links; only unmodified
// clicks on them are intercepted.

import { ApiError, OfferbookClient, TokenError } from '@offerbook/client';
import { element } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';
import { findToken, forgetToken, storeToken } from '../page-token.ts';
import { type Catalogue, openCatalogue } from './catalogue.ts';
import { failureNote } from './failure-note.ts';
import { feedScreen } from './feed-screen.ts';
import { type ListScreen, listScreen } from './list-screen.ts';
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

function startExplorer(main: HTMLElement): void {
  const feed = SETTINGS.feedPath === undefined ? undefined : feedScreen(SETTINGS.feedPath);
  let view: View = EVERYTHING;
  let lastList: ListView = EVERYTHING;
  let lastRetailer: string | undefined;
  /** Undefined while the page asks for a token. */
  let open: Open | undefined;

  history.scrollRestoration = 'manual';
  addEventListener('popstate', () => show(parseView(location.search), true));
  let rest: ReturnType<typeof setTimeout> | undefined;
  addEventListener('scroll', () => {
    clearTimeout(rest);
    rest = setTimeout(saveScroll, SCROLL_REST_MS);
  });
  document.addEventListener('click', follow);
  const token = findToken();
  if (token === undefined) askForToken();
  else begin(token);

  function begin(token: string): void {
    try {
      open = openWith(token);
      show(parseView(location.search), true);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      askForToken(error.message);
    }
  }

  function openWith(token: string): Open {
    // The page shows failures and retries with a countdown, so turn off the client's own retries.
    const client = new OfferbookClient({ baseUrl: location.origin, token, retry: { attemptsMax: 1 } });
    const catalogue = openCatalogue(client, catalogueChanged);
    return { catalogue, list: listScreen(catalogue, search) };
  }

  function show(requested: View, isReturning = false): void {
    view = requested.kind === 'transactions' && feed === undefined ? EVERYTHING : requested;
    feed?.stop();
    if (open === undefined) return;
    if (view.kind === 'transactions') showFeed();
    else if (view.kind === 'retailer') void showRetailer(open, view, isReturning);
    else showList(open, view, isReturning);
  }

  function showFeed(): void {
    if (feed === undefined) return;
    document.title = `Transactions · ${TITLE}`;
    put(feed.node);
    feed.start();
    scrollTo(0, 0);
    focus('h1');
  }

  function showList({ list, catalogue }: Open, wanted: ListView, isReturning: boolean): void {
    const saved = isReturning ? (history.state as ScrollState | null) : null;
    document.title = TITLE;
    lastList = wanted;
    list.show(wanted, saved?.shownMax);
    put(list.node);
    void catalogue.load();
    scrollTo(0, saved?.scrollY ?? 0);
    if (isReturning && lastRetailer !== undefined) {
      focus(`[data-retailer="${CSS.escape(lastRetailer)}"] a`);
    }
  }

  async function showRetailer(from: Open, wanted: RetailerView, isReturning: boolean): Promise<void> {
    const { id, country } = wanted;
    const isCurrent = () => open === from && view === wanted;
    // If the reader arrived through a shared URL, the back link opens the list for the same country.
    const back = lastList === EVERYTHING ? { ...EVERYTHING, country } : lastList;
    lastRetailer = id;
    try {
      const finding = from.catalogue.find(id);
      if (!(await isQuick(finding)) && isCurrent()) put(loadingScreen());
      const retailer = await finding;
      if (!isCurrent()) return;
      document.title = retailer === undefined ? TITLE : `${withoutDirections(retailer.name)} · ${TITLE}`;
      put(retailer === undefined ? noSuchRetailer() : retailerScreen(retailer, back, country));
      scrollTo(0, isReturning ? ((history.state as ScrollState | null)?.scrollY ?? 0) : 0);
      if (!isReturning) focus('h1');
    } catch (error) {
      if (!isCurrent() || isRejectedToken(error)) return;
      const retry = () => void showRetailer(from, wanted, isReturning);
      put(element('div.screen.narrow', backLink(back), failureNote(error, retry)));
    }
  }

  function catalogueChanged(): void {
    if (open === undefined) return;
    const { state } = open.catalogue.loaded;
    if (state.kind === 'failed' && isRejectedToken(state.error)) return;
    open?.list.refresh();
  }

  /** If the service rejected the token, asks the reader for a different token and returns true. */
  function isRejectedToken(error: unknown): boolean {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return false;
    if (SETTINGS.token === undefined) {
      askForToken('The service did not accept this token. It may be mistyped, expired or revoked.');
    } else {
      open = undefined;
      put(staleScreen());
    }
    return true;
  }

  function askForToken(problem?: string): void {
    open = undefined;
    forgetToken();
    document.title = TITLE;
    put(
      tokenScreen(problem, (token) => {
        storeToken(token);
        begin(token);
      }),
    );
    if (problem !== undefined) main.querySelector('input')?.focus();
  }

  function search(wanted: ListView, kind: 'typed' | 'chosen'): void {
    if (kind === 'chosen') {
      go(wanted);
    } else {
      history.replaceState(null, '', printView(wanted));
      view = wanted;
      lastList = wanted;
      open?.list.show(wanted);
    }
  }

  function go(wanted: View): void {
    saveScroll();
    history.pushState(null, '', printView(wanted));
    show(wanted);
  }

  function saveScroll(): void {
    if (open === undefined) return;
    const saved: ScrollState = { scrollY, shownMax: open.list.shownMax() };
    history.replaceState(saved, '');
  }

  function follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isModified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (link === null || isModified || link.target !== '' || open === undefined) return;
    if (link.origin !== location.origin || link.pathname !== '/' || link.hash !== '') return;
    event.preventDefault();
    go(parseView(link.search));
  }

  function put(screen: HTMLElement): void {
    if (main.firstElementChild !== screen) main.replaceChildren(screen);
  }

  /** Moves the focus, so that keyboard users and screen readers continue from there. */
  function focus(selector: string): void {
    main.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  }
}

function loadingScreen(): HTMLElement {
  const status = element('p.muted', { role: 'status' }, 'Loading…');
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
startExplorer(main);
