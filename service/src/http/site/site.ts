// Everything that needs no token: health, the OpenAPI document, and the pages for people.

import { type ApiError, ERROR_CODES, ERRORS } from '../../domain/api-errors.ts';
import { StaticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import { type Health, readiness } from '../readiness.ts';
import { json, type Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { Assets, type AssetUrls, SITE_ASSETS } from './assets.ts';
import { clientRoutes } from './client-files.ts';
import { errorList, errorPage, linkErrorPage, notFoundPage } from './error-pages.ts';
import { type ExplorerOptions, explorerPage, requirePublic } from './explorer-page.ts';
import { guidePage } from './guide-page.ts';
import { GUIDE_PATHS, loadGuides } from './guides/guides.ts';
import { FAVICON, htmlPage } from './html-page.ts';
import type { DocumentSettings } from './openapi.ts';
import { referencePage } from './reference-page.ts';
import { searchIndex } from './search-index.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

type MakePage = (urls: AssetUrls) => StaticFile | Promise<StaticFile>;

export interface Site {
  readonly routes: readonly Route[];
  /** For people who come to a path where there is nothing. */
  readonly notFound: Route['answer'];
  /** For people who followed a link that could not be activated. */
  readonly linkError: (error: ApiError, exchange: Exchange) => Promise<Reply>;
}

export function buildSite(health: () => Health, options: ExplorerOptions & DocumentSettings): Site {
  // Before anything is served, and not when the first page is asked for.
  requirePublic(options.pageToken);
  // Made when it is first asked for, and so are the schemas that it is made from: the start takes 50 ms less.
  const document = once(async () => (await import('./openapi.ts')).openApiDocument(options));
  const printed = once(
    async () => new StaticFile(JSON.stringify(await document()), { 'Content-Type': 'application/json' }),
  );
  const documentation = once(async () => ({
    document: await document(),
    guides: await loadGuides(),
  }));
  const assets = new Assets(SITE_ASSETS);
  const searched = once(
    async () =>
      new StaticFile(JSON.stringify(searchIndex(await documentation())), {
        'Content-Type': 'application/json',
      }),
  );
  const page = (path: string, make: MakePage) => pageRoute(path, assets, make);
  const routes = [
    open('/livez', () => json(200, { status: 'live' }, NO_STORE)),
    open('/readyz', () => {
      const { status, body, headers } = readiness(health());
      return json(status, body, headers);
    }),
    open('/openapi.json', async (exchange) => (await printed()).answer(exchange, 'public, max-age=300')),
    open('/favicon.svg', (exchange) => FAVICON.answer(exchange, 'public, max-age=86400')),
    ...assets.routes(),
    ...clientRoutes(),
    page('/', (urls) => explorerPage(options, urls)),
    page('/docs', async (urls) => referencePage(await documentation(), options, urls)),
    ...GUIDE_PATHS.map((path) =>
      page(path, async (urls) => guidePage(path, await documentation(), urls, options)),
    ),
    open('/docs/search.json', async (exchange) => (await searched()).answer(exchange, 'no-cache')),
    page('/errors/', (urls) =>
      htmlPage({ title: 'Errors · Offerbook', place: '/errors/', main: errorList() }, urls, options.explorer),
    ),
    ...ERROR_CODES.map((code) =>
      page(`/errors/${code}`, (urls) => {
        const title = `${ERRORS[code].title} · Offerbook`;
        return htmlPage({ title, place: '/errors/', main: errorPage(code) }, urls, options.explorer);
      }),
    ),
  ];
  const notFound = once(async () => notFoundPage(await assets.urls(), options.explorer));
  return {
    routes,
    notFound: async (exchange) => ({ ...(await notFound()).answer(exchange, 'no-store'), status: 404 }),
    async linkError(error, exchange) {
      const page = linkErrorPage(error, await assets.urls(), options.explorer);
      return { ...page.answer(exchange, 'no-store'), status: ERRORS[error.code].status };
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function open(path: string, answer: Route['answer']): Route {
  return { method: 'GET', path, openToBrowsers: true, answer };
}

/** A page may hold the sandbox's token, so pages from elsewhere must not read it. */
function pageRoute(path: string, assets: Assets<(typeof SITE_ASSETS)[number]>, make: MakePage): Route {
  let made: StaticFile | undefined;
  return {
    method: 'GET',
    path,
    openToBrowsers: false,
    async answer(exchange) {
      made ??= await make(await assets.urls());
      return made.answer(exchange, 'no-cache');
    },
  };
}
