// Parts of a row that are read each by itself, so that a rate which cannot be read takes neither its retailer nor the other
// rates along.

import type { Fields } from '../fields.ts';
import type { CatalogueFact } from './facts.ts';

export function readApart(
  parts: readonly Fields[],
  read: (part: Fields, index: number) => CatalogueFact[],
): CatalogueFact[] {
  return parts.flatMap((part, index): CatalogueFact[] => {
    const alone = part.alone();
    const facts = read(alone, index);
    if (alone.problems.length === 0) return facts;
    return [{ kind: 'bad', id: idOf(facts), problems: alone.problems }];
  });
}

/** What a row is called in messages: the first id that it tells. */
export function idOf([first]: readonly CatalogueFact[]): string | undefined {
  if (first === undefined || first.kind === 'left out') return undefined;
  return ('id' in first ? first.id : first.advertiserId) || undefined;
}
