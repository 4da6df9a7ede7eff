// The component schemas of the OpenAPI document. Items are generated from the Zod schemas that validate imports; pages and
// problems are written here. Each schema has a name, because generators name their types after it. No schema forbids
// additional properties: responses may gain fields without a new version.

import { z } from 'zod';
import { ERROR_CODES } from '../../domain/api-errors.ts';
import type { ListedItem } from '../operations/operation.ts';
import type { Schema } from './words.ts';

export function schemaRef(component: string): Schema {
  return { $ref: `#/components/schemas/${component}` };
}

/** Component name of a page of these items. */
export function pageComponent({ component }: ListedItem): string {
  return `${component}Page`;
}

/** Components of an operation: its item, the objects embedded in the item, and the page. */
export async function itemSchemas(item: ListedItem): Promise<Record<string, Schema>> {
  const made = wireSchema(await item.loadSchema());
  const properties = { ...(made.properties as Record<string, Schema>) };
  const embedded: Record<string, Schema> = {};
  for (const [field, component] of Object.entries(item.embedded ?? {})) {
    const list = properties[field] ?? {};
    embedded[component] = list.items as Schema;
    properties[field] = { ...list, items: schemaRef(component) };
  }
  return {
    [item.component]: { ...made, properties },
    ...embedded,
    [pageComponent(item)]: pageSchema(item),
  };
}

function pageSchema({ component }: ListedItem): Schema {
  return {
    type: 'object',
    description: 'One page of a list',
    required: ['data'],
    properties: {
      data: { type: 'array', description: 'Items on this page', items: schemaRef(component) },
      cursor: {
        type: 'string',
        format: 'uuid',
        description: 'Id of the next item; absent on the last page',
      },
    },
  };
}

export const PROBLEM_SCHEMAS: Record<string, Schema> = {
  Problem: {
    type: 'object',
    description: 'Problem details (RFC 9457)',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'URL of a page that explains the error' },
      title: { type: 'string', description: 'Summary of the error; the same for every error with this code' },
      status: { type: 'integer', description: 'HTTP status' },
      detail: { type: 'string', description: 'Description of this error' },
      instance: { type: 'string', description: 'Path of the request' },
      code: { type: 'string', enum: ERROR_CODES, description: 'Stable error code for programs' },
      requestId: { type: 'string', description: "Id of the request in the service's log" },
      errors: { type: 'array', description: 'All invalid parameters', items: schemaRef('ParameterError') },
    },
  },
  ParameterError: {
    type: 'object',
    description: 'An invalid parameter',
    required: ['parameter', 'detail'],
    properties: {
      parameter: { type: 'string', description: 'Name of the parameter' },
      detail: { type: 'string', description: 'What is wrong with the parameter' },
    },
  },
};

/** JSON Schema of a response item. Defaults and the rejection of unknown fields concern only imports. */
function wireSchema(schema: z.ZodType): Schema {
  const made: Schema = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.additionalProperties;
      if (jsonSchema.anyOf !== undefined) replace(jsonSchema, joinNull(jsonSchema));
    },
  });
  // The document declares the dialect for all schemas.
  delete made.$schema;
  return made;
}

/** Turns `anyOf: [X, null]` into `type: [X, null]`, because generators drop the description of an `anyOf`. */
function joinNull(schema: Schema): Schema {
  const { anyOf, ...own } = schema;
  const [value, nothing, ...others] = anyOf as Schema[];
  if (value === undefined || nothing?.type !== 'null' || others.length > 0)
    throw new Error(`anyOf is supported only for nullable schemas: ${JSON.stringify(schema)}`);
  return { ...value, ...own, type: [value.type, 'null'] };
}

function replace(target: Schema, by: Schema): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, by);
}
