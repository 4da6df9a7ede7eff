// What a page of the console is, what it is made from, and the frame around it. Pages only read: the stores that they are
// given have nothing that changes anything.

import { type Html, html } from '@offerbook/site/html.ts';
import { printDocument } from '@offerbook/site/html-page.ts';
import type { ImportLog } from '../domain/books.ts';
import type { ClickStore } from '../domain/click.ts';
import type {
  CatalogueStore,
  OrganisationStore,
  Revisions,
  TokenStore,
  TransactionHistory,
  TransactionStore,
} from '../domain/stores.ts';
import type { NodeState } from '../http/metrics.ts';
import type { UrlsOf } from '../http/pages/assets.ts';
import { pageHeaders } from '../http/pages/page-file.ts';
import type { Reply } from '../http/reply.ts';
import type { CatalogueReader } from './counts/catalogue-contents.ts';
import type { ClickDay } from './counts/click-totals.ts';
import type { KeptCount } from './counts/kept-count.ts';
import type { TransactionTotals } from './counts/transaction-totals.ts';
import { moment } from './elements.ts';
import type { HourFigures } from './recent-hour.ts';

/** What the console shows of the running node. It is sent to the thread that makes the pages: data without behaviour. */
export interface NodeView {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly state: NodeState;
  readonly hour: HourFigures;
  /** How many workers there are meant to be. */
  readonly workers: number;
}

export interface ConsoleStores {
  readonly organisations: Pick<OrganisationStore, 'list' | 'changeClocks'>;
  readonly tokens: Pick<TokenStore, 'list'>;
  readonly catalogue: Pick<CatalogueStore, 'read'>;
  readonly clicks: Pick<ClickStore, 'countBetween'>;
  readonly transactions: Pick<TransactionStore, 'page' | 'read'>;
  readonly history: Pick<TransactionHistory, 'versions' | 'findByPassbackUid'>;
  readonly imports: Pick<ImportLog, 'find' | 'list' | 'days' | 'totals'>;
  revisions(): Promise<Revisions>;
}

/** What takes long to find out, and is kept. */
export interface ConsoleCounts {
  readonly catalogue: CatalogueReader;
  readonly transactions: KeptCount<TransactionTotals>;
  readonly clicks: KeptCount<readonly ClickDay[]>;
}

export interface PageContext {
  readonly node: NodeView;
  /** Throws a StorageError when the database does not answer. */
  readonly stores: () => Promise<ConsoleStores>;
  readonly counts: ConsoleCounts;
  /** Whose disk is watched. */
  readonly folder: string;
  readonly query: URLSearchParams;
  /** What a form has sent in the body of the request. */
  readonly form: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface ConsolePage {
  readonly status?: number;
  readonly title: string;
  readonly main: Html;
}

export type MakePage = (context: PageContext) => Promise<ConsolePage>;

export const PLACES = [
  { path: '/', label: 'Overview' },
  { path: '/catalogue', label: 'Catalogue' },
  { path: '/imports', label: 'Imports' },
  { path: '/organisations', label: 'Organisations' },
  { path: '/transactions', label: 'Transactions' },
  { path: '/totals', label: 'Totals' },
  { path: '/clicks', label: 'Clicks' },
  { path: '/errors', label: 'Errors' },
] as const;

export const CONSOLE_ASSETS = ['/assets/console.js', '/assets/console.css'] as const;

export function consoleReply(
  { status = 200, title, main }: ConsolePage,
  path: string,
  node: NodeView,
  urls: UrlsOf<(typeof CONSOLE_ASSETS)[number]>,
): Reply {
  const script = urls['/assets/console.js'];
  const place = PLACES.find(
    (one) => one.path === path || (one.path !== '/' && path.startsWith(`${one.path}/`)),
  );
  const text = printDocument({
    title: `${title} · Offerbook console`,
    place: place?.path,
    places: PLACES,
    main: html`<div class="screen console"><div class="heading"><h1>${title}</h1><p class="muted as-of"><span>As of ${moment(node.nowMs)} UTC</span></p></div>${main}</div>`,
    styles: urls['/assets/console.css'],
    script,
    brand: 'Offerbook console',
    footer: html`This console only reads. Commands are for a shell in which <code>OFFERBOOK_DATABASE_URL</code> names this node's database. <a href="/metrics">Metrics</a>`,
  });
  return {
    status,
    headers: {
      ...pageHeaders({ text, hasScript: true, imageSources: [], submitsForms: true }),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    },
    body: text,
  };
}
