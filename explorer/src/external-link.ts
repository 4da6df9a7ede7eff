// Links out of the explorer. The other page learns nothing of where its visitor comes from, and gets no hold
// on this one.

import { element } from './element.ts';

/** Imports let nothing else pass; a page that makes links of what it is sent checks for itself. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && findUrl(text) !== undefined;
}

/** The URL that a text is; undefined when it is none. (`URL.canParse` is missing in Safari up to 16.) */
export function findUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** A link, or the label alone when the address is none that may be followed. */
export function externalLink(url: string, label: Node | string, className: string): HTMLElement {
  return isWebUrl(url)
    ? element('a', { class: className, href: url, target: '_blank', rel: 'noopener noreferrer' }, label)
    : element('span', {}, label);
}
