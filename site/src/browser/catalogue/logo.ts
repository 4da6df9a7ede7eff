// A retailer's logo, or its initial if the page is not allowed to load the logo. Logos come only from this server and the
// origins it allows, so no other site learns what the reader is viewing.

import type { Retailer } from '@offerbook/client';
import { element, findUrl } from '../element.ts';
import { SETTINGS } from '../page-settings.ts';

/** Background hues for initials. */
const HUES = [12, 42, 88, 150, 190, 220, 265, 325];

/** Paths that logos must not be loaded from: requests to them record clicks and count against rate limits. */
const API_PATH = /^\/(?:v1|go)(?:\/|$)/;

export function drawLogo({ id, name, logo }: Retailer): HTMLElement {
  const frame = element('span.logo', { 'aria-hidden': true }, initial(name));
  frame.style.setProperty('--hue', String(hue(id)));
  if (!mayLoad(logo)) return frame;
  const image = element('img', {
    src: logo,
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
}

function mayLoad(logo: string): boolean {
  const url = findUrl(logo);
  if (url === undefined) return false;
  if (url.origin === location.origin) return !API_PATH.test(url.pathname);
  return SETTINGS.logoSources.includes(url.origin) || SETTINGS.logoSources.includes(url.protocol);
}

function initial(name: string): string {
  return /[\p{L}\p{N}]/u.exec(name)?.[0]?.toUpperCase() ?? '•';
}

/** The same id always gets the same hue. */
function hue(id: string): number | undefined {
  const hash = [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9_973, 7);
  return HUES[hash % HUES.length];
}
