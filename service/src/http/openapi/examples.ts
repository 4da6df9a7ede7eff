// Examples in the OpenAPI document and on the error pages. Tests compare them with real responses.

import type { TokenKind } from '../../domain/access-token.ts';
import {
  ApiError,
  ERRORS,
  type ErrorCode,
  type ErrorKind,
  type ParameterError,
} from '../../domain/api-errors.ts';
import { PAGE_SIZE_MAX } from '../../domain/page.ts';
import { problemDocument } from '../reply.ts';
import type { Schema } from './component-schemas.ts';

/** Placeholder for the service's URL if the operator has not set a public URL. */
const BASE_URL = 'https://api.example';

type Components = Readonly<Record<string, Schema>>;

/** Builds an item from the examples of its fields. */
export function exampleItem(component: string, components: Components): { id: string } {
  return exampleOf(components[component] ?? {}, components) as { id: string };
}

/** Returns a page with one item. The cursor is the item's id plus one. */
export function examplePage(item: { readonly id: string }) {
  return { data: [item], cursor: item.id.replace(/.$/, (digit) => String(Number(digit) + 1)) };
}

function exampleOf(schema: Schema, components: Components): unknown {
  const { examples, properties, required, items, $ref } = schema as {
    examples?: unknown[];
    properties?: Record<string, Schema>;
    required?: string[];
    items?: Schema;
    $ref?: string;
  };
  if ($ref !== undefined) return exampleOf(components[$ref.split('/').at(-1) ?? ''] ?? {}, components);
  if (examples !== undefined) return examples[0];
  if (properties !== undefined) {
    // Optional fields appear only on request.
    const always = Object.entries(properties).filter(([name]) => required?.includes(name));
    return Object.fromEntries(always.map(([name, property]) => [name, exampleOf(property, components)]));
  }
  return items === undefined ? null : [exampleOf(items, components)];
}

/** The operation that returned the error. */
export interface ExampleContext {
  readonly path: string;
  /** Undefined if the operation needs no token. */
  readonly tokenKind?: TokenKind;
  /** The path's methods, as the error lists them: `GET or HEAD`. */
  readonly methods?: string;
  /** Undefined if the operation does not read data. */
  readonly returns?: 'page' | 'item';
  /** True for links that people click: errors render as HTML if the client accepts HTML. */
  readonly isLink?: boolean;
}

export function exampleProblem(code: ErrorCode, operation: ExampleContext, origin = BASE_URL) {
  const usual: ErrorKind = ERRORS[code];
  const { detail = usual.detail ?? '', errors } = exampleDetails(operation)[code] ?? {};
  const requestId = '01931f4e-7d5c-7000-9a4e-0c7d3f1e2b5a';
  const error = new ApiError(code, detail, errors && { errors });
  return problemDocument(error, { origin, path: operation.path, requestId });
}

type ExampleDetails = Partial<Record<ErrorCode, { detail?: string; errors?: readonly ParameterError[] }>>;

/** Returns the details that depend on the operation. */
function exampleDetails({ tokenKind, methods = 'GET or HEAD', returns }: ExampleContext): ExampleDetails {
  const isPublic = tokenKind === 'public';
  const isLink = tokenKind === undefined;
  const bad = isLink
    ? { parameter: 'passbackUid', detail: 'is missing' }
    : returns === 'item'
      ? { parameter: 'id', detail: 'must be a UUID' }
      : { parameter: 'limit', detail: `must be a whole number from 1 to ${PAGE_SIZE_MAX}` };
  return {
    wrong_token_kind: {
      detail: `This operation accepts only ${tokenKind} tokens, but a ${isPublic ? 'private' : 'public'} token was sent.`,
    },
    invalid_parameter: { detail: `${bad.parameter} ${bad.detail}.`, errors: [bad] },
    ...(isLink ? { deal_not_found: { detail: 'Unknown deal or organisation.' } } : {}),
    method_not_allowed: { detail: `Use ${methods}.` },
    rate_limited: { detail: 'Too many requests. Try again in 30 s.' },
    ...(isPublic ? { unavailable: { detail: 'The catalogue is still loading. Try again shortly.' } } : {}),
  };
}
