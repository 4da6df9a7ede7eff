// Builds the OpenAPI 3.1 document from the import schemas, the operations and the error table, so it always matches the
// service.

import type { ApiDocument, ApiOperation } from '@offerbook/site/docs/api-document.ts';
import { codeSamples } from '@offerbook/site/docs/code-samples.ts';
import { LOCAL_URL } from '@offerbook/site/docs/guides/guides.ts';
import { ERROR_CODES, type ErrorCode } from '../../domain/api-errors.ts';
import { PAGE_SIZE_DEFAULT } from '../../domain/page.ts';
import type { Operation } from '../operations/operation.ts';
import { OPERATIONS } from '../operations/operations.ts';
import { listParameter, pathParameter, UUID } from '../operations/parameters.ts';
import { ACTIVATION_SCHEMAS, ACTIVATION_TAG, activationPaths } from './activation-paths.ts';
import { itemSchemas, PROBLEM_SCHEMAS, type Schema, schemaRef } from './component-schemas.ts';
import { errorResponses } from './error-responses.ts';
import { exampleItem, examplePage } from './examples.ts';
import { ACTIVATION_HEADERS, HEADERS, type HeaderName, headerRefs } from './header-objects.ts';
import { WEBHOOK_SCHEMAS, webhooks } from './webhooks.ts';

/** The operator's settings that appear in the document. */
export interface DocumentSettings {
  readonly pageSize: number;
  /** URL at which clients reach the service through a proxy. */
  readonly publicUrl: string | undefined;
  /** Currency of fixed cashbacks, ISO 4217. */
  readonly currency: string | undefined;
  readonly activation: 'on' | 'off';
}

const DEFAULTS: DocumentSettings = {
  pageSize: PAGE_SIZE_DEFAULT,
  publicUrl: undefined,
  currency: undefined,
  activation: 'on',
};

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

/** If there is no public URL, the code samples use the local URL. */
export function openApiDocument(settings = DEFAULTS, localUrl = LOCAL_URL) {
  const baseUrl = settings.publicUrl ?? localUrl;
  const schemas: Record<string, Schema> = {};
  for (const { component } of OPERATIONS) Object.assign(schemas, itemSchemas(component));
  Object.assign(schemas, WEBHOOK_SCHEMAS);
  const hasActivation = settings.activation === 'on';
  const headers: Record<string, object> = { ...HEADERS, ...(hasActivation ? ACTIVATION_HEADERS : {}) };
  const paths: ApiDocument['paths'] = {
    ...Object.fromEntries(
      OPERATIONS.map((operation) => [
        operation.path,
        { get: operationObject(operation, schemas, settings, baseUrl) },
      ]),
    ),
    ...(hasActivation ? activationPaths(settings.publicUrl, baseUrl) : {}),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Offerbook',
      // Version of the API. Its major version is part of the paths. The program's version is separate.
      version: '1.3.0',
      description: `Retailers with their cashback offers, coupons and promotions, and your users' transactions.\n\nLists are paginated. Send a page's \`cursor\` to get the next page; a page without a cursor is the last. Add an id to a list's path to get one item. Unknown query parameters get 400, unless they begin with an underscore. ${describeCurrency(settings.currency)}`,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: settings.publicUrl ?? '/', description: 'This server' }],
    tags: [
      {
        name: 'Catalogue',
        description: 'Retailers and their deals. Needs a public token, which servers and browsers can use.',
      },
      {
        name: 'Transactions',
        description: "Your users' purchases. Needs a private token, which only servers can use.",
      },
      ...(hasActivation ? [ACTIVATION_TAG] : []),
    ],
    paths,
    webhooks: webhooks(schemas),
    components: {
      schemas: { ...schemas, ...(hasActivation ? ACTIVATION_SCHEMAS : {}), ...PROBLEM_SCHEMAS },
      headers,
      securitySchemes: {
        publicToken: { type: 'http', scheme: 'bearer', description: 'A public API token, ob_pub_…' },
        privateToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'A private API token, ob_prv_…; for servers only',
        },
      },
    },
  };
}

function operationObject(
  operation: Operation,
  schemas: Readonly<Record<string, Schema>>,
  { pageSize, publicUrl }: DocumentSettings,
  baseUrl: string,
): ApiOperation {
  const isCatalogue = operation.tokenKind === 'public';
  const isPage = operation.returns === 'page';
  const isPaginated = operation.parameters.includes('cursor');
  const item = exampleItem(operation.component, schemas);
  const page = isPaginated ? examplePage(item) : { data: [item] };
  const list = isPaginated ? 'One page' : 'The whole list';
  const hasTag = isCatalogue || !isPage;
  const headers: readonly HeaderName[] = [
    ...(['Request-Id', 'RateLimit', 'RateLimit-Policy'] as const),
    ...(isPaginated ? (['Link'] as const) : []),
    ...(['Cache-Control', 'Vary'] as const),
    hasTag ? 'ETag' : 'Complete-Through',
  ];
  const notModified = {
    304: {
      description: 'Unchanged: the ETag equals the If-None-Match header',
      headers: headerRefs(headers.filter((name) => name !== 'Link')),
    },
  };
  const context = { ...operation, path: operation.path.replace('{id}', item.id) };
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    tags: [isCatalogue ? 'Catalogue' : 'Transactions'],
    security: [isCatalogue ? { publicToken: [] } : { privateToken: [] }],
    parameters: [
      ...(isPage ? [] : [pathParameter('id', `Id of the ${operation.sample.itemName}`, UUID, item.id)]),
      ...operation.parameters.map((name) => listParameter(name, pageSize)),
    ],
    responses: {
      200: {
        description: isPage ? list : 'The item',
        headers: headerRefs(headers),
        content: {
          'application/json': {
            schema: schemaRef(isPage ? `${operation.component}Page` : operation.component),
            example: isPage ? page : item,
          },
        },
        ...(isPaginated ? { links: { nextPage: nextPage(operation) } } : {}),
      },
      ...(hasTag ? notModified : {}),
      ...errorResponses(errorCodes(operation), context, publicUrl),
    },
    'x-codeSamples': codeSamples(operation, baseUrl),
  };
}

function nextPage({ id }: Operation) {
  return {
    operationId: id,
    parameters: { cursor: '$response.body#/cursor' },
    description: 'The next page, with the other parameters unchanged. Exists only if the body has a cursor.',
  };
}

/** There is no default, because the specification does not define the currency of fixed cashbacks. */
function describeCurrency(currency: string | undefined): string {
  return currency === undefined
    ? 'Fixed cashbacks (`maximumFixedCommissionFee`) are in one currency; ask the operator which one.'
    : `Fixed cashbacks (\`maximumFixedCommissionFee\`) are in ${currency}.`;
}

function errorCodes({ tokenKind, returns }: Operation): ErrorCode[] {
  const isPrivate = tokenKind === 'private';
  const conditions: Partial<Record<ErrorCode, boolean>> = {
    not_found: false,
    deal_gone: false,
    deal_not_found: returns === 'item' && !isPrivate,
    transaction_not_found: returns === 'item' && isPrivate,
    private_token_in_browser: isPrivate,
  };
  return ERROR_CODES.filter((code) => conditions[code] ?? true);
}
