// The OpenAPI 3.1 document, made from the schemas that check imports, the table of operations and the table
// of errors, so that it cannot say anything else than what the service does.

import { z } from 'zod';
import { CashbackOfferSchema, CouponSchema, PromotionSchema, RetailerSchema } from '../domain/catalogue.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../domain/errors.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../domain/page.ts';
import { TransactionSchema } from '../domain/transaction.ts';
import { type CodeSample, codeSamples } from './code-samples.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { type ParameterName, VALUE_LENGTH_MAX } from './query.ts';

type Schema = Record<string, unknown>;

export interface ParameterObject {
  readonly name: string;
  readonly in: 'query';
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string | number;
}

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

const ITEMS: Record<string, { component: string; schema: z.ZodType; summary: string; description: string }> =
  {
    listRetailers: {
      component: 'Retailer',
      schema: RetailerSchema,
      summary: 'Retailers with active deals',
      description:
        'Lists the retailers that currently have at least one active offer, coupon or promotion, each with its active deals, in the order of their ids.',
    },
    listCashbackOffers: {
      component: 'CashbackOffer',
      schema: CashbackOfferSchema,
      summary: 'Cashback offers',
      description:
        "Lists cashback offers in the order of their ids. Filters narrow the list down to what matches all of them: name searches in the retailer's name, category is compared as a whole, both without regard to case and accents.",
    },
    listCoupons: {
      component: 'Coupon',
      schema: CouponSchema,
      summary: 'Coupons',
      description: 'Lists the coupons that are active now, in the order of their ids.',
    },
    listPromotions: {
      component: 'Promotion',
      schema: PromotionSchema,
      summary: 'Promotions',
      description: 'Lists the promotions that are active now, in the order of their ids.',
    },
    listTransactions: {
      component: 'Transaction',
      schema: TransactionSchema,
      summary: 'Transactions of your users',
      description:
        "Lists the transactions of the token's organisation, in the order of their ids. For servers only. To follow changes, walk the pages of updatedAtGreaterThan=W, keep the Complete-Through header of the first page, upsert by id, and use that value as the next W: no change is ever missed. The whole contract, with recipes, is in docs/polling.md of Offerbook's source.",
    },
  };

const PARAMETER_OBJECTS: Record<ParameterName, Omit<ParameterObject, 'name' | 'in'>> = {
  cursor: {
    description:
      'Where the page starts: the cursor of the previous page. Without it, the first page is returned.',
    schema: { type: 'string', format: 'uuid' },
    example: '0192d1a0-0000-7000-8000-000000000001',
  },
  limit: {
    description: `How many items a page has at the most. An addition of this service. The operator may set another default.`,
    schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT },
    example: 50,
  },
  name: {
    description: "Keeps offers whose retailer's name contains this text, ignoring case and accents.",
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'green',
  },
  category: {
    description: 'Keeps offers of this category, ignoring case and accents.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: 'Garden',
  },
  country: {
    description: 'Keeps offers that are available in this country, ISO 3166-1 alpha-2, in any case.',
    schema: { type: 'string', pattern: '^([A-Za-z]{2})?$' },
    example: 'DE',
  },
  updatedAtGreaterThan: {
    description: 'Keeps transactions updated after this date-time. ISO 8601; UTC unless it has an offset.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-14T12:00:00',
  },
  updatedAtLessThan: {
    description: 'Keeps transactions updated before this date-time. ISO 8601; UTC unless it has an offset.',
    schema: { type: 'string', maxLength: VALUE_LENGTH_MAX },
    example: '2026-11-15T00:00:00',
  },
};

const HEADERS = {
  'Request-Id': header(
    'The id of this request; the one you sent, if you sent a sane one.',
    'string',
    '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
  ),
  RateLimit: header(
    'What is left of the limit and in how many seconds it starts again.',
    'string',
    '"public";r=5999;t=60',
  ),
  'RateLimit-Policy': header(
    'The limit: so many requests in so many seconds.',
    'string',
    '"public";q=6000;w=60',
  ),
  Link: header(
    'The whole URL of the next page, when there is one.',
    'string',
    '<https://api.example/v1/retailers/?cursor=0192d1a0-0000-7000-8000-000000000001>; rel="next"',
  ),
  ETag: header(
    'Send it back as If-None-Match: an unchanged page is answered with 304 and no body.',
    'string',
    '"1x7f0g2k3"',
  ),
  'Cache-Control': header('How long the answer may be kept, and by whom.', 'string', 'public, max-age=60'),
  Vary: header('The request headers that the answer depends on.', 'string', 'Authorization, Accept-Encoding'),
  'Complete-Through': header(
    'Every change up to and including this stamp was visible to this read; every later change will carry a greater one.',
    'string',
    '2026-11-14T12:05:31.482',
  ),
  'WWW-Authenticate': header(
    'What kind of token is wanted, and what was wrong with the one sent.',
    'string',
    'Bearer realm="offerbook", error="invalid_token"',
  ),
  'Retry-After': header('How many seconds to wait before trying again.', 'integer', 2),
  Allow: header('The methods that are supported.', 'string', 'GET, HEAD'),
};
type HeaderName = keyof typeof HEADERS;

const ERROR_HEADERS: Partial<Record<ErrorCode, readonly HeaderName[]>> = {
  missing_token: ['WWW-Authenticate'],
  invalid_token: ['WWW-Authenticate'],
  wrong_token_kind: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  rate_limited: ['Retry-After'],
  unavailable: ['Retry-After'],
};

export function openApiDocument(): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Offerbook',
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
      OPERATIONS.map((operation) => [operation.path, { get: operationObject(operation) }]),
    ),
    components: {
      schemas: {
        ...Object.fromEntries(OPERATIONS.map(({ id }) => [item(id).component, wireSchema(item(id).schema)])),
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

function operationObject(operation: Operation): OperationObject {
  const { component, summary, description, schema } = item(operation.id);
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
      headers: headerRefs(headers),
    },
  };
  return {
    operationId: operation.id,
    summary,
    description,
    tags: [isCatalogue ? 'Catalogue' : 'Transactions'],
    security: [isCatalogue ? { publicToken: [] } : { privateToken: [] }],
    parameters: operation.parameters.map((name) => ({ name, in: 'query', ...PARAMETER_OBJECTS[name] })),
    responses: {
      200: {
        description: 'One page',
        headers: headerRefs(headers),
        content: {
          'application/json': {
            schema: envelope(component),
            example: {
              data: [exampleOf(wireSchema(schema))],
              cursor: '0192d1a0-0000-7000-8000-000000000201',
            },
          },
        },
      },
      ...(isCatalogue ? notModified : {}),
      ...errorResponses(operation),
    },
    'x-codeSamples': codeSamples(operation),
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
        'Request-Id',
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

export function exampleProblem(code: ErrorCode, path: string): unknown {
  return {
    type: `https://api.example/errors/${code}`,
    title: ERRORS[code].title,
    status: ERRORS[code].status,
    detail: ERRORS[code].meaning,
    instance: path,
    code,
    requestId: '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a',
    ...(code === 'invalid_parameter'
      ? { errors: [{ parameter: 'limit', detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` }] }
      : {}),
  };
}

function item(operationId: string) {
  const found = ITEMS[operationId];
  if (found === undefined) throw new Error(`operation ${operationId} has no description`);
  return found;
}

/** The JSON schema of what is sent: defaults are for imports and say nothing to a reader. */
function wireSchema(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.$schema;
    },
  }) as Schema;
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

function header(description: string, type: 'string' | 'integer', example: string | number): Schema {
  return { description, schema: { type }, example };
}

function headerRefs(names: readonly HeaderName[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
