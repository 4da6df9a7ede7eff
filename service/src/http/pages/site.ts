// Routes that need no token: health, the OpenAPI document, and the HTML pages. This file collects the data for the pages; the
// site workspace renders them.

import { guidePage, REFERENCE_PATH } from '@offerbook/site/docs/docs-page.ts';
import { GUIDE_PATHS, renderGuides } from '@offerbook/site/docs/guides/guides.ts';
import { overviewPage } from '@offerbook/site/docs/overview-page.ts';
import { referencePage } from '@offerbook/site/docs/reference-page.ts';
import { searchIndex } from '@offerbook/site/docs/search-index.ts';
import { type DescribedError, errorList, errorPage, notFoundPage } from '@offerbook/site/error-pages.ts';
import { type ExplorerOptions, explorerPage } from '@offerbook/site/explorer-page.ts';
import type { Frame, Page } from '@offerbook/site/html-page.ts';
import { linkErrorPage } from '@offerbook/site/link-error-page.ts';
import { parseTokenKind } from '../../domain/access-token.ts';
import { type ApiError, ERROR_CODES, ERRORS, type ErrorCode } from '../../domain/api-errors.ts';
import { staticFile } from '../content/static-file.ts';
import type { Exchange } from '../exchange.ts';
import { type ExampleContext, exampleProblem } from '../openapi/examples.ts';
import type { DocumentSettings } from '../openapi/openapi-document.ts';
import { getRetailer, getTransaction, listRetailers, listTransactions } from '../operations/operations.ts';
import { type Health, readiness } from '../readiness.ts';
import { json, type Reply } from '../reply.ts';
import type { Route } from '../router.ts';
import { fileRoute, once, openAssets, openRoute, SITE_ASSETS } from './assets.ts';
import { clientRoutes } from './client-routes.ts';
import { readDocuments } from './embedded.ts';
import { FAVICON, pageFile } from './page-file.ts';

const UNKNOWN_ID = '0192d1a0-0000-7000-8000-0000000000ff';
const NO_STORE = { 'Cache-Control': 'no-store' };

/** The operation that an error's example response comes from, if it is not the list of retailers. */
const EXAMPLE_OPERATIONS: Partial<Record<ErrorCode, ExampleContext>> = {
  private_token_in_browser: listTransactions,
  deal_not_found: { ...getRetailer, path: `/v1/retailers/${UNKNOWN_ID}/` },
  transaction_not_found: { ...getTransaction, path: `/v1/transactions/${UNKNOWN_ID}/` },
};

/** The API errors, each with an example response, for the pages under /errors/. */
const DESCRIBED_ERRORS: readonly DescribedError[] = ERROR_CODES.map((code) => {
  const operation = EXAMPLE_OPERATIONS[code] ?? listRetailers;
  return { code, ...ERRORS[code], example: exampleProblem(code, operation) };
});

export interface SiteSettings extends ExplorerOptions, DocumentSettings {
  /** If `off`, the page at `/` is a short welcome instead of the explorer. */
  readonly explorer: 'on' | 'off';
}

interface Server {
  readonly health: () => Health;
  /** Returns the server's own URL. */
  readonly localUrl: () => string;
}

export function buildSite(settings: SiteSettings, { health, localUrl }: Server) {
  // Fail at startup instead of on the first page request.
  requirePublic(settings.guest?.token);
  // Loading the schemas on the first request saves 50 ms at startup.
  const document = once(async () => {
    const { openApiDocument } = await import('../openapi/openapi-document.ts');
    return openApiDocument(settings, localUrl());
  });
  const documentation = once(async () => ({
    document: await document(),
    guides: renderGuides(await readDocuments(), settings.publicUrl ?? localUrl()),
    errors: DESCRIBED_ERRORS,
  }));
  const assets = openAssets(SITE_ASSETS);
  const frame = async () => ({ urls: await assets.urls(), explorer: settings.explorer });
  /** Pages are not open to other origins, because they can contain a guest's token. */
  const page = (path: string, render: (frame: Frame) => Page | Promise<Page>) =>
    fileRoute(path, { cacheControl: 'no-cache', openToBrowsers: false }, async () =>
      pageFile(await render(await frame())),
    );
  const routes = [
    openRoute('/livez', async () => json(200, { status: 'live' }, NO_STORE)),
    openRoute('/readyz', async () => {
      const { status, body, headers } = readiness(health());
      return json(status, body, headers);
    }),
    openRoute('/favicon.svg', async (exchange) => FAVICON.answer(exchange, 'public, max-age=86400')),
    jsonRoute('/openapi.json', 'public, max-age=300', document),
    jsonRoute('/docs/search.json', 'no-cache', async () => searchIndex(await documentation())),
    ...assets.routes,
    ...clientRoutes(),
    page('/', (frame) => explorerPage(settings, frame)),
    page('/docs', async (frame) => overviewPage(await documentation(), frame)),
    page(REFERENCE_PATH, async (frame) => referencePage(await documentation(), settings.guest, frame)),
    ...GUIDE_PATHS.map((path) => page(path, async (frame) => guidePage(path, await documentation(), frame))),
    page('/errors/', (frame) => errorList(DESCRIBED_ERRORS, frame)),
    ...DESCRIBED_ERRORS.map((error) => page(`/errors/${error.code}`, (frame) => errorPage(error, frame))),
  ];
  const notFound = once(async () => pageFile(notFoundPage(ERRORS.not_found.title, await frame())));
  return {
    routes,
    /** Answers browsers that open an unknown path. */
    notFound: async (exchange: Exchange) => ({
      ...(await notFound()).answer(exchange, 'no-store'),
      status: 404,
    }),
    /** Answers browsers whose activation link failed with a page for shoppers. */
    async linkError({ code, headers }: ApiError, exchange: Exchange): Promise<Reply> {
      const page = linkErrorPage(code, exchange.requestId, await frame());
      const reply = pageFile(page).answer(exchange, 'no-store');
      for (const [name, value] of Object.entries(headers)) reply.headers.set(name, value);
      return { ...reply, status: ERRORS[code].status };
    },
  };
}

/** Anyone can read a token in a page, so it must be a public token. */
function requirePublic(token: string | undefined): void {
  if (token !== undefined && parseTokenKind(token) !== 'public') {
    throw new Error('a guest token must be a public token');
  }
}

function jsonRoute(path: string, cacheControl: string, make: () => Promise<unknown>): Route {
  return fileRoute(path, { cacheControl, openToBrowsers: true }, async () => {
    return staticFile(JSON.stringify(await make()), { 'Content-Type': 'application/json' });
  });
}
