// A retailer's logo, or its initial if the page may not load the logo. Logos come from this server and the origins it
// allows, so no other site learns what the reader looks at.

import type { Retailer } from '@offerbook/client';
import { element } from '../element.ts';
import { findUrl } from '../external-link.ts';

/** Number of colours in the style sheet. */
const HUES = 8;

/** Requests below these paths record clicks and count against limits. */
const API_PATH = /^\/(?:v1|go)(?:\/|$)/;

export type DrawLogo = (retailer: Pick<Retailer, 'id' | 'name' | 'logo'>) => HTMLElement;

export function logoDrawer(page: Document, ownOrigin: string): DrawLogo {
  const allowed =
    page
      .querySelector<HTMLMetaElement>('meta[name="offerbook-logos"]')
      ?.content.split(' ')
      .filter((source) => source !== '') ?? [];

  const mayLoad = (logo: string) => {
    const url = findUrl(logo);
    if (url === undefined) return false;
    if (url.origin === ownOrigin) return !API_PATH.test(url.pathname);
    return allowed.includes(url.origin) || allowed.includes(url.protocol);
  };

  return (retailer) => {
    const frame = element('span', { class: 'logo', 'aria-hidden': true, 'data-hue': hue(retailer.id) });
    frame.append(initial(retailer.name));
    if (!mayLoad(retailer.logo)) return frame;
    const image = element('img', {
      src: retailer.logo,
      alt: '',
      width: 96,
      height: 96,
      loading: 'lazy',
      decoding: 'async',
      referrerpolicy: 'no-referrer',
    });
    // Show the initial until the image has loaded, and permanently if loading fails.
    image.addEventListener('load', () => frame.replaceChildren(image), { once: true });
    image.addEventListener('error', () => image.remove(), { once: true });
    frame.append(image);
    return frame;
  };
}

function initial(name: string): string {
  return /[\p{L}\p{N}]/u.exec(name)?.[0]?.toUpperCase() ?? '•';
}

function hue(id: string): number {
  return [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_973, 7) % HUES;
}
