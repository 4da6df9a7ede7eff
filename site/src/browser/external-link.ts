// Links to other sites, without a referrer and without access to this window.

import { element } from './element.ts';

/** Parses a URL; undefined if it is invalid. (Safari before 17 lacks `URL.canParse`.) */
export function findUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns only the label if the URL is not http or https. Imports reject such URLs too. */
export function externalLink(url: string, label: Node | string, className: string): HTMLElement {
  return /^https?:$/.test(findUrl(url)?.protocol ?? '')
    ? element('a', { class: className, href: url, target: '_blank', rel: 'noopener noreferrer' }, label)
    : element('span', label);
}
