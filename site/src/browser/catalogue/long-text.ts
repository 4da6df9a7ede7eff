// Shows imported text. Long text is collapsed to its beginning.

import { element } from '../element.ts';

const LONG = 400;
const BEGINNING = 160;

export function longText(text: string, className = ''): HTMLElement {
  if (text.length <= LONG) return element('p', { class: className, dir: 'auto' }, text);
  // Cut between code points, not inside a surrogate pair.
  const beginning = [...text.slice(0, BEGINNING * 2)].slice(0, BEGINNING).join('');
  return element(
    'details',
    { class: `long ${className}`.trim() },
    element('summary', { dir: 'auto' }, `${beginning}…`),
    element('p', { dir: 'auto' }, text),
  );
}
