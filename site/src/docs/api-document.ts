// The parts of an OpenAPI document that the reference and the search show.

import type { CodeSample } from './code-samples.ts';

/** The parts of a JSON Schema that the reference describes. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
  readonly $ref?: string;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: true;
  readonly description: string;
  readonly schema: FieldSchema;
  readonly example?: string | number;
}

export interface ApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly ApiParameter[];
  readonly responses: Readonly<Record<string, ApiResponse>>;
  readonly 'x-codeSamples': readonly CodeSample[];
}

export interface ApiResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, ApiContent>>;
  readonly links?: Readonly<Record<string, object>>;
}

/** A request that the service sends to the partner's server. */
export interface ApiWebhook {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Its headers. */
  readonly parameters: readonly Pick<ApiParameter, 'name' | 'description'>[];
  readonly requestBody: { readonly content: Readonly<Record<string, ApiContent>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface ApiContent {
  readonly schema: FieldSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface ApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly ApiTag[];
  readonly paths: Readonly<Record<string, { readonly get: ApiOperation; readonly post?: ApiOperation }>>;
  /** Keyed by event type. */
  readonly webhooks: Readonly<Record<string, { readonly post: ApiWebhook }>>;
  readonly components: {
    readonly schemas?: Readonly<Record<string, FieldSchema>>;
    readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  };
}

interface ApiTag {
  readonly name: string;
  readonly description: string;
}

/** Tag of the operations that activation links call. */
const ACTIVATION = 'Activation';

/** Returns every operation except activation, with its path. */
export function listOperations({ paths }: ApiDocument): [path: string, operation: ApiOperation][] {
  const all = Object.entries(paths).map(([path, { get }]): [string, ApiOperation] => [path, get]);
  return all.filter(([, { tags }]) => !tags.includes(ACTIVATION));
}

/** Returns the activation operations; an empty list if the operator has switched activation off. */
export function activationOperations({ paths }: ApiDocument) {
  return Object.entries(paths).filter(([, { get }]) => get.tags.includes(ACTIVATION));
}

export function activationTag({ tags }: ApiDocument): ApiTag {
  return tags.find(({ name }) => name === ACTIVATION) ?? { name: ACTIVATION, description: '' };
}
