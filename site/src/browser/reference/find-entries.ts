// Searches the sections of the documentation. A section must contain every word; matches in headings rank first.

import { fold } from '@offerbook/wire/fold.ts';

/** An entry of the search index. */
export interface SearchEntry {
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  /** Heading of the section. */
  readonly heading: string;
  readonly text: string;
}

const RESULTS_MAX = 8;
/** Scores for a match in the heading, the page title and the text. */
const WEIGHTS = [10, 3, 1];

export function findEntries(entries: readonly SearchEntry[], query: string): SearchEntry[] {
  const words = fold(query).match(/\S+/g);
  if (words === null) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
}

/** Returns 0 unless the entry contains every word. */
function scoreOf({ page, heading, text }: SearchEntry, words: readonly string[]): number {
  const parts = [fold(heading), fold(page), fold(text)];
  const scores = words.map((word) => WEIGHTS[parts.findIndex((part) => part.includes(word))] ?? 0);
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score);
}
