// Searches the documentation in the browser. The index is loaded on the first keystroke. "/" moves the focus to the field, and
// the arrow keys move it through the results.

import { element } from '../element.ts';
import { findEntries, type SearchEntry } from './find-entries.ts';

const EXCERPT_LENGTH = 140;
/** Text to show before a match. */
const LEAD_LENGTH = 40;

export function startSearch(): void {
  const form = document.querySelector<HTMLFormElement>('form.find');
  const input = document.querySelector<HTMLInputElement>('#find');
  const found = document.querySelector<HTMLElement>('#found');
  if (form === null || input === null || found === null) return;
  let index: Promise<SearchEntry[]> | undefined;
  form.hidden = false;
  // Phones have no key for it.
  if (matchMedia('(hover: hover)').matches) input.placeholder = 'Press / to search';
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      input.value = '';
      found.replaceChildren();
      input.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const stops: (HTMLElement | null)[] = [input, ...found.querySelectorAll('a')];
    stops[stops.indexOf(document.activeElement as HTMLElement | null) + step]?.focus();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    event.preventDefault();
    input.select();
    input.focus();
    showField(form);
  });
  input.addEventListener('input', async () => {
    const query = input.value;
    if (query.trim() === '') return found.replaceChildren();
    index ??= loadIndex();
    try {
      const entries = findEntries(await index, query);
      // Ignore the result if the reader has typed more in the meantime.
      if (input.value !== query) return;
      found.replaceChildren(results(entries, query));
      showField(form);
    } catch {
      index = undefined;
      found.replaceChildren(note('Search is unavailable right now. Type again to retry.'));
    }
  });
}

/** Focusing scrolls only the field into view, not its label, and results move the field if the list of pages was scrolled. */
function showField(form: HTMLElement): void {
  form.closest('.contents')?.scrollTo(0, 0);
  form.scrollIntoView({ block: 'nearest' });
}

async function loadIndex(): Promise<SearchEntry[]> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`status ${response.status}`);
  return (await response.json()) as SearchEntry[];
}

function results(entries: readonly SearchEntry[], query: string): HTMLElement {
  if (entries.length === 0) return note('Nothing found.');
  const words = query
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[\^$\\.*+?()[\]{}|/]/g, '\\$&'));
  const match = new RegExp(`(${words.join('|')})`, 'giu');
  return element(
    'ul',
    ...entries.map(({ url, page, heading, text }) =>
      element(
        'li',
        element(
          'a',
          { href: url },
          element('strong', ...marked(heading, match)),
          ...(heading === page ? [] : [' · ', ...marked(page, match)]),
        ),
        element('p.muted', ...marked(excerpt(text, match), match)),
      ),
    ),
  );
}

/** The part of the text around the first match, or its beginning if only the heading matches. */
function excerpt(text: string, match: RegExp): string {
  const at = text.search(match);
  if (at <= LEAD_LENGTH) return text.slice(0, EXCERPT_LENGTH);
  const start = text.indexOf(' ', at - LEAD_LENGTH) + 1;
  return `… ${text.slice(start, start + EXCERPT_LENGTH)}`;
}

/** Splits the text at the matches. The parts at odd indexes are the matches, because the pattern has one group. */
function marked(text: string, match: RegExp): (string | HTMLElement)[] {
  return text.split(match).map((part, index) => (index % 2 === 1 ? element('mark', part) : part));
}

function note(text: string): HTMLElement {
  return element('p.muted', text);
}
