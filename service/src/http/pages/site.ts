// Routes that need no token: health, the OpenAPI document, and the HTML pages. The site workspace renders the pages; this
// file fetches their data.

import { guidePage } from '@offerbook/site/docs/docs-page.ts';
import { GUIDE_PATHS, loadGuides } from '@offerbook/site/docs/guides/guides.ts';
import { referencePage } from '@offerbook/site/docs/reference-page.ts';
import { searchIndex } from '@offerbook/site/docs/search-index.ts';
import { errorList, errorPage, linkErrorPage, notFoundPage } from '@offerbook/site/error-pages.ts';
import { type ExplorerOptions, explorerPage } from '@offerbook/site/explorer-page.ts';
import type { Frame, Page } from '@offerbook/site/html-page.ts';
import { parseTokenKind } from '../../domain/access-token.ts';
import { type ApiError, ERRORS } from '../../domain/api-errors.ts';
import { StaticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import type { DocumentSettings } from '../openapi/openapi-document.ts';
import { type Health, readiness } from '../readiness.ts';
import { json, type Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { openAssets, SITE_ASSETS } from './assets.ts';
import { clientRoutes } from './client-routes.ts';
import { DESCRIBED_ERRORS } from './described-errors.ts';
import { fileRoute, once } from './file-route.ts';
import { FAVICON, pageFile } from './page-file.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

export interface Site {
  readonly routes: readonly Route[];
  /** Answers people who open an unknown path. */
  readonly notFound: Route['answer'];
  /** Answers people whose link could not be activated. */
  readonly linkError: (error: ApiError, exchange: Exchange) => Promise<Reply>;
}

export interface SiteOptions extends ExplorerOptions, DocumentSettings {
  /** Off: the page at `/` is a short welcome instead of the explorer. */
  readonly explorer: 'on' | 'off';
}

export function buildSite(health: () => Health, options: SiteOptions): Site {
  // Fail at startup, not at the first page.
  requirePublic(options.guest?.token);
  // Built on the first request, and so are its schemas: the server starts 50 ms sooner.
  const document = once(async () =>
    (await import('../openapi/openapi-document.ts')).openApiDocument(options),
  );
  const documentation = once(async () => ({
    document: await document(),
    guides: await loadGuides(options.publicUrl ?? options.localUrl()),
    errors: DESCRIBED_ERRORS,
  }));
  const assets = openAssets(SITE_ASSETS);
  const frame = async () => ({ urls: await assets.urls(), explorer: options.explorer });
  /** Not open to other origins: a page may contain a guest's token. */
  const page = (path: string, render: (frame: Frame) => Page | Promise<Page>) =>
    fileRoute(path, { cacheControl: 'no-cache', openToBrowsers: false }, async () =>
      pageFile(await render(await frame())),
    );
  const routes = [
    open('/livez', async () => json(200, { status: 'live' }, NO_STORE)),
    open('/readyz', async () => {
      const { status, body, headers } = readiness(health());
      return json(status, body, headers);
    }),
    open('/favicon.svg', async (exchange) => FAVICON.answer(exchange, 'public, max-age=86400')),
    jsonRoute('/openapi.json', 'public, max-age=300', document),
    jsonRoute('/docs/search.json', 'no-cache', async () => searchIndex(await documentation())),
    ...assets.routes,
    ...clientRoutes(),
    page('/', (frame) => explorerPage(options, frame)),
    page('/docs', async (frame) => referencePage(await documentation(), options.guest, frame)),
    ...GUIDE_PATHS.map((path) => page(path, async (frame) => guidePage(path, await documentation(), frame))),
    page('/errors/', (frame) => errorList(DESCRIBED_ERRORS, frame)),
    ...DESCRIBED_ERRORS.map((error) => page(`/errors/${error.code}`, (frame) => errorPage(error, frame))),
  ];
  const notFound = once(async () => pageFile(notFoundPage(ERRORS.not_found.title, await frame())));
  return {
    routes,
    notFound: async (exchange) => ({ ...(await notFound()).answer(exchange, 'no-store'), status: 404 }),
    async linkError({ code, errors, headers }, exchange) {
      const { status, title } = ERRORS[code];
      const page = linkErrorPage({ code, title, errors }, await frame());
      const reply = pageFile(page).answer(exchange, 'no-store');
      return { ...reply, status, headers: { ...reply.headers, ...headers } };
    },
  };
}

/** A private token in a page would be a leak. */
function requirePublic(token: string | undefined): void {
  if (token !== undefined && parseTokenKind(token) !== 'public') {
    throw new Error('only a public token may be put into a page');
  }
}

function open(path: string, answer: Route['answer']): Route {
  return { method: 'GET', path, openToBrowsers: true, answer };
}

function jsonRoute(path: string, cacheControl: string, make: () => Promise<unknown>): Route {
  return fileRoute(path, { cacheControl, openToBrowsers: true }, async () => {
    return new StaticFile(JSON.stringify(await make()), { 'Content-Type': 'application/json' });
  });
}
