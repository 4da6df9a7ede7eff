// Refreshes a console page every 10 s while the page is visible, by fetching it again and updating what has changed. The
// browser parses the response as a document, because Trusted Types forbid turning strings into markup.

import { button } from '../element.ts';
import { updateContent } from './update-content.ts';

const INTERVAL_MS = 10_000;

export function keepCurrent(onRefresh: () => void): void {
  // The result of a posted form cannot be fetched again.
  if (document.querySelector('[data-posted]') !== null) return;
  let isPaused = false;
  const toggle = button('Pause', press, { 'aria-label': 'Pause refreshing', 'data-added': '' });
  showToggle();

  /** Error pages have no place for the button, but the page may recover. */
  function showToggle(): void {
    if (!toggle.isConnected) document.querySelector('.as-of')?.append(toggle);
  }

  function press(): void {
    isPaused = !isPaused;
    toggle.textContent = isPaused ? 'Resume' : 'Pause';
    toggle.setAttribute('aria-label', isPaused ? 'Resume refreshing' : 'Pause refreshing');
  }

  setInterval(async () => {
    if (isPaused || document.hidden || isSelecting()) return;
    const fresh = await fetchPage();
    const [now, next] = [document.querySelector('main'), fresh?.querySelector('main')];
    if (now === null || next === null || next === undefined || isPaused || isSelecting()) return;
    updateContent(now, next);
    showToggle();
    onRefresh();
  }, INTERVAL_MS);
}

/** True while the reader has selected text: an update could change the text before the reader copies it. */
function isSelecting(): boolean {
  return getSelection()?.isCollapsed === false;
}

/** Returns undefined on failure; the page then stays as it is. */
function fetchPage(): Promise<Document | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.timeout = INTERVAL_MS;
    request.onloadend = () =>
      resolve(request.status === 200 ? (request.responseXML ?? undefined) : undefined);
    request.send();
  });
}
