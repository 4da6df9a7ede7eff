// Refreshes a console page every 10 s while the page is visible, by fetching it again and replacing its content. The browser
// parses the response as a document, because Trusted Types forbid turning strings into markup.

import { button } from '../element.ts';

const INTERVAL_MS = 10_000;

export function keepCurrent(onRefresh: () => void): void {
  // The result of a posted form cannot be fetched again.
  if (document.querySelector('[data-posted]') !== null) return;
  let isPaused = false;
  const toggle = button('Pause', press, { 'aria-label': 'Pause refreshing' });
  document.querySelector('.as-of')?.append(toggle);

  function press(): void {
    isPaused = !isPaused;
    toggle.textContent = isPaused ? 'Resume' : 'Pause';
    toggle.setAttribute('aria-label', isPaused ? 'Resume refreshing' : 'Pause refreshing');
  }

  setInterval(async () => {
    if (isPaused || document.hidden || isInUse(toggle)) return;
    const fresh = await fetchPage();
    const [now, next] = [document.querySelector('main'), fresh?.querySelector('main')];
    if (now === null || next === null || next === undefined || isPaused || isInUse(toggle)) return;
    const opened = [...now.querySelectorAll('details')].map(({ open }) => open);
    const scrolled = [...now.querySelectorAll('.scroll')].map(({ scrollLeft, scrollTop }) => ({
      scrollLeft,
      scrollTop,
    }));
    const hadFocus = document.activeElement === toggle;
    now.replaceChildren(...document.adoptNode(next).childNodes);
    document.querySelector('.as-of')?.append(toggle);
    if (hadFocus) toggle.focus();
    onRefresh();
    for (const [i, details] of now.querySelectorAll('details').entries()) details.open = opened[i] ?? false;
    for (const [i, region] of now.querySelectorAll('.scroll').entries()) Object.assign(region, scrolled[i]);
  }, INTERVAL_MS);
}

/** True while the reader navigates by keyboard, fills in a form or has selected text. */
function isInUse(toggle: HTMLElement): boolean {
  const { activeElement } = document;
  const hasFocus = activeElement !== toggle && document.querySelector('main')?.contains(activeElement);
  return hasFocus === true || getSelection()?.isCollapsed === false;
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
