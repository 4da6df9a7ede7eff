// Searches sections of the documentation. A section must contain every word; matches in headings rank first.

import type { SearchEntry } from '../../docs/search-entry.ts';
import { fold } from '../fold.ts';

const RESULTS_MAX = 8;

/** Returns the entries that contain all words, best first. */
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

/** 0 unless the entry contains every word. */
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
