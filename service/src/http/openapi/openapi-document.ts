// The OpenAPI 3.1 document. It is made from the schemas that check imports, the table of operations and the table of
// errors, so it says what the service does.

import { codeSamples } from '@offerbook/site/docs/code-samples.ts';
import { LOCAL_URL } from '@offerbook/site/docs/guides/guides.ts';
import { ERROR_CODES, type ErrorCode } from '../../domain/api-errors.ts';
import { PAGE_SIZE_DEFAULT } from '../../domain/page.ts';
import type { Operation } from '../operations/operation.ts';
import { OPERATIONS } from '../operations/operations.ts';
import { ACTIVATION_SCHEMAS, activationPaths } from './activation-paths.ts';
import { itemSchemas, PROBLEM_SCHEMAS, pageComponent, schemaRef } from './component-schemas.ts';
import type { OpenApiDocument, OperationObject, ResponseObject } from './document-objects.ts';
import { errorResponses } from './error-responses.ts';
import { examplePage } from './examples.ts';
import {
  ACTIVATION_HEADERS,
  ACTIVATION_TAG,
  HEADERS,
  type HeaderName,
  headerRefs,
  parameterObject,
  type Schema,
} from './words.ts';

/** What the operator may set and a reader should know. */
export interface DocumentSettings {
  readonly pageSize: number;
  /** Where callers reach the service, when that is not where it listens. */
  readonly publicUrl: string | undefined;
  /** Where this server listens, for samples without a public URL. Called when the document is built. */
  readonly localUrl: () => string;
  /** Of fixed cashbacks, as ISO 4217. */
  readonly currency: string | undefined;
  /** Whether deals can be activated here. */
  readonly activation: 'on' | 'off';
}

const DEFAULTS: DocumentSettings = {
  pageSize: PAGE_SIZE_DEFAULT,
  publicUrl: undefined,
  localUrl: () => LOCAL_URL,
  currency: undefined,
  activation: 'on',
};

export async function openApiDocument(settings = DEFAULTS): Promise<OpenApiDocument> {
  const schemas: Record<string, Schema> = {};
  for (const { item } of OPERATIONS) Object.assign(schemas, await itemSchemas(item));
  const hasActivation = settings.activation === 'on';
  return {
    openapi: '3.1.0',
    info: {
      title: 'Offerbook',
      // The interface's, whose first number is in the paths. The program has a version of its own.
      version: '1.0.0',
      description: `Retailers with their cashback offers, coupons and promotions, and the transactions of your users. Lists come in pages: send the cursor of a page to get the next one; a page without a cursor is the last. Parameters that look like filters or paging but are not listed here, such as status or page, get 400; other unknown parameters are ignored. ${currencyWords(settings.currency)}`,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: settings.publicUrl ?? '/', description: 'This server' }],
    tags: [
      { name: 'Catalogue', description: 'What is on offer. Takes public tokens, from servers and browsers.' },
      {
        name: 'Transactions',
        description: 'What your users bought. Takes private tokens, from servers only.',
      },
      ...(hasActivation ? [ACTIVATION_TAG] : []),
    ],
    paths: {
      ...Object.fromEntries(
        OPERATIONS.map((operation) => [
          operation.path,
          { get: operationObject(operation, schemas, settings) },
        ]),
      ),
      ...(hasActivation
        ? activationPaths(settings.publicUrl, settings.publicUrl ?? settings.localUrl())
        : {}),
    },
    components: {
      schemas: { ...schemas, ...(hasActivation ? ACTIVATION_SCHEMAS : {}), ...PROBLEM_SCHEMAS },
      headers: { ...HEADERS, ...(hasActivation ? ACTIVATION_HEADERS : {}) },
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
  { pageSize, publicUrl, localUrl }: DocumentSettings,
): OperationObject {
  const isCatalogue = operation.tokenKind === 'public';
  const headers: HeaderName[] = [
    'Request-Id',
    'RateLimit',
    'RateLimit-Policy',
    'Link',
    'Cache-Control',
    'Vary',
  ];
  headers.push(isCatalogue ? 'ETag' : 'Complete-Through');
  const notModified: Record<string, ResponseObject> = {
    304: {
      description: 'The page is the one whose ETag was sent as If-None-Match',
      headers: headerRefs(headers.filter((name) => name !== 'Link')),
    },
  };
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: operation.description,
    tags: [isCatalogue ? 'Catalogue' : 'Transactions'],
    security: [isCatalogue ? { publicToken: [] } : { privateToken: [] }],
    parameters: operation.parameters.map((name) => parameterObject(name, pageSize)),
    responses: {
      200: {
        description: 'One page',
        headers: headerRefs(headers),
        content: {
          'application/json': {
            schema: schemaRef(pageComponent(operation.item)),
            example: examplePage(operation.item.component, schemas),
          },
        },
        links: {
          nextPage: {
            operationId: operation.id,
            parameters: { cursor: '$response.body#/cursor' },
            description:
              'The next page, with the other parameters unchanged. There is one only when the body has a cursor.',
          },
        },
      },
      ...(isCatalogue ? notModified : {}),
      ...errorResponses(errorCodes(operation), operation, publicUrl),
    },
    'x-codeSamples': codeSamples(operation, publicUrl ?? localUrl()),
  };
}

/** The specification names no currency for fixed cashbacks, and none is guessed. */
function currencyWords(currency: string | undefined): string {
  return currency === undefined
    ? 'Fixed cashbacks (maximumFixedCommissionFee) are in one currency, which the operator of this service can tell you.'
    : `Fixed cashbacks (maximumFixedCommissionFee) are in ${currency}.`;
}

/** The errors that an operation can answer with. */
function errorCodes({ tokenKind }: Operation): ErrorCode[] {
  return ERROR_CODES.filter(
    (code) =>
      !['not_found', 'deal_not_found', 'deal_gone'].includes(code) &&
      (code !== 'private_token_in_browser' || tokenKind === 'private'),
  );
}
