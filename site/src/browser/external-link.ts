// Links to other sites, without referrer and without access to this window.

import { element } from './element.ts';

/** Imports accept only http and https URLs; checked again here before a link is made. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && findUrl(text) !== undefined;
}

/** Parses a URL; undefined if it is not valid. (Safari up to 16 lacks `URL.canParse`.) */
export function findUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns a link, or only the label if the URL is not http or https. */
export function externalLink(url: string, label: Node | string, className: string): HTMLElement {
  return isWebUrl(url)
    ? element('a', { class: className, href: url, target: '_blank', rel: 'noopener noreferrer' }, label)
    : element('span', {}, label);
}
