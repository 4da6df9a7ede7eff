// The frame of the service's own pages, and what they may do. Scripts, styles and requests are those of this server.
// Nothing is loaded from elsewhere, and no text is ever made into markup.

import { StaticFile } from '../content/static-file.ts';
import type { AssetUrls } from './assets.ts';
import { type Html, html } from './html.ts';

const PLACES = [
  { path: '/', label: 'Explorer' },
  { path: '/docs', label: 'Documentation' },
  { path: '/errors/', label: 'Errors' },
] as const;

export type Place = (typeof PLACES)[number]['path'];

interface PageParts {
  readonly title: string;
  /** Which of the places in the navigation it belongs to, if any. */
  readonly place: Place | undefined;
  readonly main: Html;
  readonly script?: string | undefined;
  /** Where pictures may come from besides this server, as sources of the Content-Security-Policy. */
  readonly imageSources?: readonly string[] | undefined;
  /** Where forms may be sent without a script: nowhere, unless given. */
  readonly formAction?: 'self' | undefined;
  /** Told to the script. */
  readonly meta?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What the pages of the site have in common. */
export interface Frame {
  readonly urls: AssetUrls;
  /** Whether the page at `/` is the explorer. */
  readonly explorer: 'on' | 'off';
}

export function htmlPage(parts: PageParts, { urls, explorer }: Frame): StaticFile {
  const text = printDocument({
    ...parts,
    styles: urls['/assets/site.css'],
    brand: 'Offerbook',
    places: PLACES.map(({ path, label }) => ({
      path,
      label: explorer === 'off' && path === '/' ? 'Home' : label,
    })),
    footer: html`Offerbook · <a href="/openapi.json">OpenAPI document</a>`,
  });
  return new StaticFile(text, pageHeaders(parts));
}

interface DocumentParts extends Pick<PageParts, 'title' | 'main' | 'script' | 'meta'> {
  /** The path of one of the places. */
  readonly place: string | undefined;
  readonly places: readonly NavPlace[];
  readonly styles: string;
  readonly brand: string;
  readonly footer: Html;
}

interface NavPlace {
  readonly path: string;
  readonly label: string;
}

/** The whole document, for this site and for the console. */
export function printDocument(parts: DocumentParts): string {
  const { title, place, places, main, styles, script, brand, footer, meta = {} } = parts;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${Object.entries(meta).map(([name, content]) => (content === undefined ? undefined : html`<meta name="${name}" content="${content}">\n`))}<title>${title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styles}">
${script === undefined ? undefined : html`<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="site">
<a class="brand" href="/">${MARK}${brand}</a>
<nav aria-label="Pages">${places.map((one) => navLink(one, place))}</nav>
</header>
<main id="main">${main}</main>
<footer class="site"><p>${footer}</p></footer>
</body>
</html>
`.text;
}

export function pageHeaders({
  script,
  imageSources = [],
  formAction,
}: Pick<PageParts, 'script' | 'imageSources' | 'formAction'>): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ['img-src', "'self'", ...imageSources].join(' '),
    ...(script === undefined ? [] : ["script-src 'self'", "connect-src 'self'"]),
    "base-uri 'none'",
    `form-action ${formAction === 'self' ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
    // No policy may be created, so a string that is made into markup is an error, not an attack.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

function navLink({ path, label }: NavPlace, current: string | undefined): Html {
  return path === current
    ? html`<a href="${path}" aria-current="page">${label}</a>`
    : html`<a href="${path}">${label}</a>`;
}

const MARK = html`<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><path class="mark-cover" d="M6 4h17a4 4 0 0 1 4 4v20H10a4 4 0 0 1-4-4z"/><path class="mark-page" d="M6 24a4 4 0 0 1 4-4h17v8H10a4 4 0 0 1-4-4z"/><path class="mark-sign" d="M13 15.5 20 8.5M13.5 9.5h.01M19.5 14.5h.01"/></svg>`;

/** The mark again, with colours of its own: a tab has no style sheet. */
export const FAVICON = new StaticFile(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#0a6b4b" d="M6 4h17a4 4 0 0 1 4 4v20H10a4 4 0 0 1-4-4z"/><path fill="#9adcc0" d="M6 24a4 4 0 0 1 4-4h17v8H10a4 4 0 0 1-4-4z"/><path stroke="#fff" stroke-width="2.4" stroke-linecap="round" d="M13 15.5 20 8.5M13.5 9.5h.01M19.5 14.5h.01"/></svg>',
  { 'Content-Type': 'image/svg+xml' },
);
