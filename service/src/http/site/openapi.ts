// The OpenAPI 3.1 document, made from the schemas that check imports, the table of operations and the table
// of errors, so that it cannot say anything else than what the service does.

import { z } from 'zod';
import { ERROR_CODES, ERRORS } from '../../domain/api-errors.ts';
import { PAGE_SIZE_DEFAULT } from '../../domain/page.ts';
import type { Operation } from '../operations/operation.ts';
import { OPERATIONS } from '../operations/operations.ts';
import { exampleProblem } from '../problem.ts';
import { type CodeSample, codeSamples } from './code-samples.ts';
import {
  COMMON_ERROR_HEADERS,
  ERROR_HEADERS,
  HEADERS,
  type HeaderName,
  type ParameterObject,
  parameterObject,
  type Schema,
} from './openapi-words.ts';

interface ResponseObject {
  readonly description: string;
  readonly headers: Record<string, Schema>;
  readonly content?: Record<string, { schema: Schema; example?: unknown }>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly ParameterObject[];
  readonly responses: Record<string, ResponseObject>;
  readonly 'x-codeSamples': readonly CodeSample[];
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  readonly servers: readonly { url: string; description: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, { get: OperationObject }>;
  readonly components: Record<string, Record<string, unknown>>;
}

/** What the operator may set and a reader should know. */
export interface DocumentSettings {
  readonly pageSize: number;
  readonly publicUrl: string | undefined;
}

const DEFAULTS: DocumentSettings = { pageSize: PAGE_SIZE_DEFAULT, publicUrl: undefined };

export async function openApiDocument(settings = DEFAULTS): Promise<OpenApiDocument> {
  const described = await Promise.all(
    OPERATIONS.map(async (operation) => ({
      operation,
      schema: wireSchema(await operation.item.loadSchema()),
    })),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Offerbook',
      // The interface's, whose first number is in the paths. The program has a version of its own.
      version: '1.0.0',
      description:
        'Retailers with their cashback offers, coupons and promotions, and the transactions of your users. All operations are reads. Lists come in pages: send the cursor of a page to get the next one; a page without a cursor is the last.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: [
      { name: 'Catalogue', description: 'What is on offer. Takes public tokens, from servers and browsers.' },
      {
        name: 'Transactions',
        description: 'What your users bought. Takes private tokens, from servers only.',
      },
    ],
    paths: Object.fromEntries(
      described.map(({ operation, schema }) => [
        operation.path,
        { get: operationObject(operation, schema, settings) },
      ]),
    ),
    components: {
      schemas: {
        ...Object.fromEntries(described.map(({ operation, schema }) => [operation.item.component, schema])),
        Problem: PROBLEM,
      },
      headers: HEADERS,
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
  schema: Schema,
  { pageSize, publicUrl }: DocumentSettings,
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
            schema: envelope(operation.item.component),
            example: {
              data: [exampleOf(schema)],
              cursor: '0192d1a0-0000-7000-8000-000000000201',
            },
          },
        },
      },
      ...(isCatalogue ? notModified : {}),
      ...errorResponses(operation),
    },
    'x-codeSamples': codeSamples(operation, publicUrl),
  };
}

function envelope(component: string): Schema {
  return {
    type: 'object',
    required: ['data'],
    additionalProperties: false,
    properties: {
      data: {
        type: 'array',
        description: 'The items of the page',
        items: { $ref: `#/components/schemas/${component}` },
      },
      cursor: {
        type: 'string',
        format: 'uuid',
        description: 'The id of the next item; present only when more items can be fetched',
      },
    },
  };
}

/** The errors that an operation can answer with, by status: several codes may share one. */
function errorResponses(operation: Operation): Record<string, ResponseObject> {
  const codes = ERROR_CODES.filter(
    (code) =>
      code !== 'not_found' && (code !== 'private_token_in_browser' || operation.tokenKind === 'private'),
  );
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const [first] = sharing;
      const names: HeaderName[] = [
        ...COMMON_ERROR_HEADERS,
        ...new Set(sharing.flatMap((code) => ERROR_HEADERS[code] ?? [])),
      ];
      return [
        status,
        {
          description: sharing.map((code) => `${code}: ${ERRORS[code].title}`).join('. '),
          headers: headerRefs(names),
          content: {
            'application/problem+json': {
              schema: { $ref: '#/components/schemas/Problem' },
              example: first === undefined ? undefined : exampleProblem(first, operation.path),
            },
          },
        },
      ];
    }),
  );
}

const PROBLEM: Schema = {
  type: 'object',
  description: 'An error, as in RFC 9457',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'A page that explains the error' },
    title: { type: 'string', description: 'What went wrong, the same for every error of this code' },
    status: { type: 'integer', description: 'The HTTP status' },
    detail: { type: 'string', description: 'What went wrong this time' },
    instance: { type: 'string', description: 'The path that was asked for' },
    code: { type: 'string', enum: ERROR_CODES, description: 'A stable name for programs' },
    requestId: { type: 'string', description: 'The id under which the service has logged the request' },
    errors: {
      type: 'array',
      description: 'Every bad parameter',
      items: {
        type: 'object',
        required: ['parameter', 'detail'],
        additionalProperties: false,
        properties: {
          parameter: { type: 'string', description: 'The name of the parameter' },
          detail: { type: 'string', description: 'What is wrong with its value' },
        },
      },
    },
  },
};

/** The JSON schema of what is sent: defaults are for imports and say nothing to a reader. */
function wireSchema(schema: z.ZodType): Schema {
  const made: Schema = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
    },
  });
  // The document says for all of them what they are written in.
  delete made.$schema;
  return made;
}

/** An example value, put together from the examples of the fields. */
function exampleOf(schema: Schema): unknown {
  const { examples, anyOf, properties, items } = schema as {
    examples?: unknown[];
    anyOf?: Schema[];
    properties?: Record<string, Schema>;
    items?: Schema;
  };
  if (examples !== undefined) return examples[0];
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0]);
  if (properties !== undefined) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, exampleOf(property)]),
    );
  }
  return items === undefined ? null : [exampleOf(items)];
}

function headerRefs(names: readonly HeaderName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
