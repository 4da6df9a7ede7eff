// Adds plots and copy buttons to the console, and refreshes a page every 10 s while it is visible, by fetching it again and updating
// what has changed. The browser parses the response as a document, because Trusted Types forbid turning strings into markup.
// The console's pages are complete without this script.

import { copyButton } from '../copy-button.ts';
import { button } from '../element.ts';
import { drawPlots } from './plots.ts';
import { updateContent } from './update-content.ts';

const INTERVAL_MS = 10_000;

enhance();
// The result of a posted form cannot be fetched again.
if (document.querySelector('[data-posted]') === null) keepCurrent();

function enhance(): void {
  drawPlots();
  for (const code of document.querySelectorAll<HTMLElement>('.command code')) addCopyButton(code);
}

function addCopyButton(code: HTMLElement): void {
  const text = code.textContent ?? '';
  const previous = code.closest('.command')?.querySelector<HTMLElement>('.copy');
  if (previous?.dataset.copies === text) return;
  const made = copyButton(`Copy: ${text}`, code);
  made.dataset.added = '';
  made.dataset.copies = text;
  previous?.remove();
  code.closest('.command')?.append(made);
}

function keepCurrent(): void {
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
    enhance();
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
