// The frame of every page: head, navigation and footer. Pages load scripts, styles and data only from their own server.

import { Html, html } from './html.ts';

const SECTIONS = [
  { path: '/', label: 'Explorer' },
  { path: '/docs', label: 'Documentation' },
  { path: '/errors/', label: 'Errors' },
] as const;

/** A navigation with more entries is folded on narrow screens. */
const UNFOLDED_MAX = 4;

export type Section = (typeof SECTIONS)[number]['path'];

/** A rendered page, and what its Content-Security-Policy must allow. */
export interface Page {
  readonly text: string;
  readonly hasScript: boolean;
  /** Sources of images besides this server. */
  readonly imageSources: readonly string[];
  /** True if the page submits forms to its server without a script. */
  readonly submitsForms: boolean;
}

/** A page without its frame. */
interface Content {
  readonly title: string;
  readonly main: Html;
  /** URL of the script. */
  readonly script?: string | undefined;
  /** Values that the script reads from <meta> elements. */
  readonly meta?: Readonly<Record<string, string | undefined>> | undefined;
  readonly imageSources?: readonly string[];
  readonly submitsForms?: boolean;
}

export interface Frame {
  readonly urls: AssetUrls;
  /** If off, the page at `/` is a short welcome instead of the explorer. */
  readonly explorer: 'on' | 'off';
}

/** URL of each asset, with its version. */
type AssetUrls = Readonly<
  Record<'/assets/catalogue.js' | '/assets/reference.js' | '/assets/site.css', string>
>;

/** `section` is the navigation entry to highlight, if any. */
export function htmlPage(
  content: Content & { section: Section | undefined },
  { urls, explorer }: Frame,
): Page {
  return printPage(content, urls['/assets/site.css'], {
    brand: 'Offerbook',
    section: content.section,
    sections: SECTIONS.map(({ path, label }) => ({
      path,
      label: explorer === 'off' && path === '/' ? 'Home' : label,
    })),
    footer: html`Offerbook · <a href="/openapi.json">OpenAPI document</a>`,
  });
}

/** A page without navigation and footer, for people who do not know Offerbook. */
export function plainPage(content: Content, { urls }: Frame): Page {
  return printPage(content, urls['/assets/site.css']);
}

interface NavSection {
  readonly path: string;
  readonly label: string;
}

/** What surrounds the contents of a page of the public site or the console. */
interface Surroundings {
  readonly brand: string;
  readonly sections: readonly NavSection[];
  /** Path of the navigation entry to highlight. */
  readonly section: string | undefined;
  readonly footer: Html;
}

/** Browsers that support it paint the page when they reach `main`, so that nothing in the header moves. */
const EXPECT_HEADER = html`<link rel="expect" href="#main" blocking="render">\n`;

export function printPage(content: Content, styles: string, surroundings?: Surroundings): Page {
  const { title, main, script, meta = {}, imageSources = [], submitsForms = false } = content;
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${Object.entries(meta).map(([name, content]) => (content === undefined ? undefined : html`<meta name="${name}" content="${content}">\n`))}<title>${title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${styles}">
${surroundings === undefined ? undefined : EXPECT_HEADER}${script === undefined ? undefined : html`<script type="module" src="${script}"></script>`}
</head>
<body>
${surroundings === undefined ? html`<main>${main}</main>` : surround(main, surroundings)}
</body>
</html>
`;
  return { text, hasScript: script !== undefined, imageSources, submitsForms };
}

function surround(main: Html, { brand, sections, section, footer }: Surroundings): Html {
  return html`<a class="skip" href="#main">Skip to content</a>
<header class="site row between">
<a class="brand row" href="/">${MARK}${brand}</a>
${navigation(sections, section)}
</header>
<main id="main">${main}</main>
<footer class="site"><p>${footer}</p></footer>`;
}

/** On narrow screens, a long list of pages is folded. */
function navigation(sections: readonly NavSection[], section: string | undefined): Html {
  const nav = html`<nav class="row" aria-label="Pages">${sections.map((one) => navLink(one, section))}</nav>`;
  if (sections.length <= UNFOLDED_MAX) return nav;
  return html`<details class="menu"><summary>Menu</summary>${nav}</details>`;
}

function navLink({ path, label }: NavSection, current: string | undefined): Html {
  return html`<a href="${path}"${path === current ? html` aria-current="page"` : undefined}>${label}</a>`;
}

function drawLogo(attributes: string, cover: string, page: string, sign: string): string {
  return `<svg ${attributes} viewBox="0 0 32 32"><path fill="${cover}" d="M6 4h17a4 4 0 0 1 4 4v20H10a4 4 0 0 1-4-4z"/><path fill="${page}" d="M6 24a4 4 0 0 1 4-4h17v8H10a4 4 0 0 1-4-4z"/><path stroke="${sign}" stroke-width="2.4" stroke-linecap="round" d="M13 15.5 20 8.5M13.5 9.5h.01M19.5 14.5h.01"/></svg>`;
}

const MARK = new Html(
  drawLogo(
    'width="28" height="28" aria-hidden="true"',
    'var(--accent)',
    'color-mix(in srgb, var(--accent) 35%, var(--surface))',
    'var(--accent-ink)',
  ),
);

/** The logo with its own colours, because a favicon has no style sheet. */
export const FAVICON_SVG = drawLogo('xmlns="http://www.w3.org/2000/svg"', '#0a6b4b', '#9adcc0', '#fff');
