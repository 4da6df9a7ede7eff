// Shows an imported description. A long description is collapsed to its beginning.

import { element } from '../element.ts';

const LENGTH_MAX = 400;
const BEGINNING = 160;

export function longText(text: string): HTMLElement {
  if (text.length <= LENGTH_MAX) return element('p', { class: 'what', dir: 'auto' }, text);
  // Cut between code points, not inside a surrogate pair.
  const beginning = [...text.slice(0, BEGINNING * 2)].slice(0, BEGINNING).join('');
  return element(
    'details',
    { class: 'long what' },
    element('summary', { dir: 'auto' }, `${beginning}…`),
    element('p', { dir: 'auto' }, text),
  );
}
