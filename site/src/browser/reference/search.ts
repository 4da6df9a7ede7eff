// Searches the documentation in the browser. The index is loaded on the first keystroke.

import type { SearchEntry } from '../../docs/search-entry.ts';
import { element } from '../element.ts';
import { findEntries } from './find-entries.ts';

const EXCERPT_LENGTH = 140;

export function startSearch(): void {
  const form = document.querySelector<HTMLFormElement>('form.find');
  const input = document.querySelector<HTMLInputElement>('#find');
  const found = document.querySelector<HTMLElement>('#found');
  if (form === null || input === null || found === null) return;
  let index: Promise<SearchEntry[]> | undefined;
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  input.addEventListener('input', async () => {
    const query = input.value;
    if (query.trim() === '') return found.replaceChildren();
    index ??= loadIndex();
    try {
      const entries = findEntries(await index, query);
      // Ignore the result if the reader has typed more in the meantime.
      if (input.value === query) found.replaceChildren(results(entries));
    } catch {
      index = undefined;
      found.replaceChildren(note('Search is unavailable right now. Type again to retry.'));
    }
  });
}

async function loadIndex(): Promise<SearchEntry[]> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`status ${response.status}`);
  return (await response.json()) as SearchEntry[];
}

function results(entries: readonly SearchEntry[]): HTMLElement {
  if (entries.length === 0) return note('Nothing found.');
  return element(
    'ul',
    {},
    ...entries.map(({ url, page, heading, text }) =>
      element(
        'li',
        {},
        element('a', { href: url }, element('strong', {}, heading), heading === page ? '' : ` · ${page}`),
        note(text.slice(0, EXCERPT_LENGTH)),
      ),
    ),
  );
}

function note(text: string): HTMLElement {
  return element('p', { class: 'muted' }, text);
}
