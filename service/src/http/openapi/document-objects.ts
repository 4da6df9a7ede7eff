// Types for the parts of OpenAPI that our document uses.

import type { CodeSample } from '@offerbook/site/docs/code-samples.ts';
import type { ParameterObject, Schema } from './words.ts';

export interface ResponseObject {
  readonly description: string;
  readonly headers: Record<string, Schema>;
  readonly content?: Record<
    string,
    { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
  >;
  readonly links?: Record<string, unknown>;
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
    contact: { name: string };
    license: { name: string; identifier: string };
  };
  readonly servers: readonly { url: string; description: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, { get: OperationObject; post?: OperationObject }>;
  readonly components: Record<string, Record<string, unknown>>;
}
