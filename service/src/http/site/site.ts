// Everything that needs no token: health, the OpenAPI document, and the pages for people.

import { type ApiError, ERROR_CODES, ERRORS } from '../../domain/api-errors.ts';
import { StaticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import type { DocumentSettings } from '../openapi/openapi-document.ts';
import { type Health, readiness } from '../readiness.ts';
import { json, type Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { openAssets, SITE_ASSETS } from './assets.ts';
import { clientRoutes } from './client-routes.ts';
import { guidePage } from './docs-frame.ts';
import { errorList, errorPage, linkErrorPage, notFoundPage } from './error-pages.ts';
import { type ExplorerOptions, explorerPage, requirePublic } from './explorer-page.ts';
import { fileRoute, once } from './file-route.ts';
import { GUIDE_PATHS, loadGuides } from './guides/guides.ts';
import { FAVICON, type Frame } from './html-page.ts';
import { referencePage } from './reference-page.ts';
import { searchIndex } from './search-index.ts';

const NO_STORE = { 'Cache-Control': 'no-store' };

export interface Site {
  readonly routes: readonly Route[];
  /** For people who come to a path where there is nothing. */
  readonly notFound: Route['answer'];
  /** For people who followed a link that could not be activated. */
  readonly linkError: (error: ApiError, exchange: Exchange) => Promise<Reply>;
}

export type SiteOptions = ExplorerOptions & DocumentSettings & Pick<Frame, 'explorer'>;

export function buildSite(health: () => Health, options: SiteOptions): Site {
  // Before anything is served, and not when the first page is asked for.
  requirePublic(options.pageToken);
  // Made when it is first asked for, and so are the schemas that it is made from: the start takes 50 ms less.
  const document = once(async () =>
    (await import('../openapi/openapi-document.ts')).openApiDocument(options),
  );
  const documentation = once(async () => ({
    document: await document(),
    guides: await loadGuides(options.publicUrl ?? options.localUrl()),
  }));
  const assets = openAssets(SITE_ASSETS);
  const frame = async () => ({ urls: await assets.urls(), explorer: options.explorer });
  /** A page may hold the sandbox's token, so pages from elsewhere must not read it. */
  const page = (path: string, make: (frame: Frame) => StaticFile | Promise<StaticFile>) =>
    fileRoute(path, { cacheControl: 'no-cache', openToBrowsers: false }, async () => make(await frame()));
  const routes = [
    open('/livez', () => json(200, { status: 'live' }, NO_STORE)),
    open('/readyz', () => {
      const { status, body, headers } = readiness(health());
      return json(status, body, headers);
    }),
    open('/favicon.svg', (exchange) => FAVICON.answer(exchange, 'public, max-age=86400')),
    jsonRoute('/openapi.json', 'public, max-age=300', document),
    jsonRoute('/docs/search.json', 'no-cache', async () => searchIndex(await documentation())),
    ...assets.routes,
    ...clientRoutes(),
    page('/', (frame) => explorerPage(options, frame)),
    page('/docs', async (frame) => referencePage(await documentation(), options, frame)),
    ...GUIDE_PATHS.map((path) => page(path, async (frame) => guidePage(path, await documentation(), frame))),
    page('/errors/', errorList),
    ...ERROR_CODES.map((code) => page(`/errors/${code}`, (frame) => errorPage(code, frame))),
  ];
  const notFound = once(async () => notFoundPage(await frame()));
  return {
    routes,
    notFound: async (exchange) => ({ ...(await notFound()).answer(exchange, 'no-store'), status: 404 }),
    async linkError(error, exchange) {
      const page = linkErrorPage(error, await frame());
      const reply = page.answer(exchange, 'no-store');
      return { ...reply, status: ERRORS[error.code].status, headers: { ...reply.headers, ...error.headers } };
    },
  };
}

function open(path: string, answer: Route['answer']): Route {
  return { method: 'GET', path, openToBrowsers: true, answer };
}

function jsonRoute(path: string, cacheControl: string, make: () => Promise<unknown>): Route {
  return fileRoute(path, { cacheControl, openToBrowsers: true }, async () => {
    return new StaticFile(JSON.stringify(await make()), { 'Content-Type': 'application/json' });
  });
}
