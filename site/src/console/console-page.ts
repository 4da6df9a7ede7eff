// The frame of every console page: its navigation, its title and the time of its data.

import { type Html, html } from '../html.ts';
import { type Page, printPage } from '../html-page.ts';
import { moment } from './elements.ts';

/** Contents of a console page, before the frame. */
export interface ConsolePage {
  /** HTTP status; defaults to 200. */
  readonly status?: number;
  readonly title: string;
  /** The title with markup; defaults to `title`. */
  readonly heading?: Html;
  readonly main: Html;
}

const SECTIONS = [
  { path: '/', label: 'Overview' },
  { path: '/catalogue', label: 'Catalogue' },
  { path: '/imports', label: 'Imports' },
  { path: '/pulls', label: 'Pulls' },
  { path: '/organisations', label: 'Organisations' },
  { path: '/webhooks', label: 'Webhooks' },
  { path: '/transactions', label: 'Transactions' },
  { path: '/totals', label: 'Totals' },
  { path: '/clicks', label: 'Clicks' },
  { path: '/errors', label: 'Errors' },
];

/** Renders the whole document. `path` selects the highlighted navigation entry. `urls` are those of the assets, with versions. */
export function framedPage(
  { status = 200, title, heading, main }: ConsolePage,
  path: string,
  nowMs: number,
  urls: Readonly<Record<'/assets/console.js' | '/assets/console.css', string>>,
): Page {
  const section = SECTIONS.find(
    (one) => one.path === path || (one.path !== '/' && path.startsWith(`${one.path}/`)),
  );
  const content = {
    title: `${title} · Offerbook console`,
    main: html`<div class="screen console"><div class="row between"><h1>${heading ?? title}</h1>${status === 200 ? asOf(nowMs) : undefined}</div>${main}</div>`,
    script: urls['/assets/console.js'],
    submitsForms: true,
  };
  return printPage(content, urls['/assets/console.css'], {
    brand: 'Offerbook console',
    sections: SECTIONS,
    section: section?.path,
    footer: html`This console is read-only. Run its commands in a shell where <code>OFFERBOOK_DATABASE_URL</code> is this node's database. <a href="/metrics">Metrics</a>`,
  });
}

/** The script adds a button to it that pauses the refresh. */
function asOf(nowMs: number): Html {
  return html`<p class="muted as-of row"><span>As of ${moment(nowMs)} UTC</span></p>`;
}

export const NO_SUCH_PAGE: ConsolePage = {
  status: 404,
  title: 'No such page',
  main: html`<p class="lead">The console has no page at this address. The navigation above lists its pages.</p>`,
};

/** Shown instead of a page whose data could not be read. */
export function databaseFailure(message: string): ConsolePage {
  return {
    status: 503,
    title: 'The database does not respond',
    main: html`<p class="lead">${message}. The <a href="/">overview</a> still shows the state of the node.</p>`,
  };
}
