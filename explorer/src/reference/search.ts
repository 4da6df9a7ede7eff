// The search over all of the documentation. The index comes with the first key and is searched here: every word must be in
// a section, and what has them in its heading comes first.

import { element } from '../element.ts';
import { fold } from '../fold.ts';

export interface SearchEntry {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const RESULTS_MAX = 8;
const EXCERPT_LENGTH = 140;

/** The entries that have all words, the best first. */
export function findEntries(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = fold(query)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
}

/** 0 unless every word is somewhere in it. */
function scoreOf({ page, heading, text }: SearchEntry, words: readonly string[]): number {
  const places = [fold(heading), fold(page), fold(text)];
  const weights = [10, 3, 1];
  let score = 0;
  for (const word of words) {
    const place = places.findIndex((where) => where.includes(word));
    if (place < 0) return 0;
    score += weights[place] ?? 0;
  }
  return score;
}

export function startSearch(page: Document): void {
  const form = page.querySelector<HTMLFormElement>('form.find');
  const input = page.querySelector<HTMLInputElement>('#find');
  const found = page.querySelector<HTMLElement>('#found');
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
      // Meanwhile the reader may have gone on typing.
      if (input.value === query) found.replaceChildren(results(entries));
    } catch {
      index = undefined;
      found.replaceChildren(element('p', { class: 'muted' }, 'The search cannot be loaded right now.'));
    }
  });
}

async function loadIndex(): Promise<SearchEntry[]> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`status ${response.status}`);
  return (await response.json()) as SearchEntry[];
}

function results(entries: readonly SearchEntry[]): HTMLElement {
  if (entries.length === 0) return element('p', { class: 'muted' }, 'Nothing found.');
  return element(
    'ul',
    {},
    ...entries.map(({ url, page, heading, text }) =>
      element(
        'li',
        {},
        element('a', { href: url }, element('strong', {}, heading), heading === page ? '' : ` · ${page}`),
        element('p', { class: 'muted' }, text.slice(0, EXCERPT_LENGTH)),
      ),
    ),
  );
}
