// The schemas of the OpenAPI document: what the pages hold, made from the schemas that check imports; the pages
// themselves; and problems. Every one has a name, because generators name their types after it. Answers may get further
// fields without a new version, so no schema forbids them.

import { z } from 'zod';
import { ERROR_CODES } from '../../domain/api-errors.ts';
import type { ListedItem } from '../operations/operation.ts';
import type { Schema } from './words.ts';

export function schemaRef(component: string): Schema {
  return { $ref: `#/components/schemas/${component}` };
}

/** The component of a page of items. */
export function pageComponent({ component }: ListedItem): string {
  return `${component}Page`;
}

/** The components of an operation: its item, what is embedded in that, and the page. */
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
      data: { type: 'array', description: 'The items of the page', items: schemaRef(component) },
      cursor: {
        type: 'string',
        format: 'uuid',
        description: 'The id of the next item; present only when more items can be fetched',
      },
    },
  };
}

export const PROBLEM_SCHEMAS: Record<string, Schema> = {
  Problem: {
    type: 'object',
    description: 'An error, as in RFC 9457',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'A page that explains the error' },
      title: { type: 'string', description: 'What went wrong, the same for every error of this code' },
      status: { type: 'integer', description: 'The HTTP status' },
      detail: { type: 'string', description: 'What went wrong this time' },
      instance: { type: 'string', description: 'The path that was asked for' },
      code: { type: 'string', enum: ERROR_CODES, description: 'A stable name for programs' },
      requestId: { type: 'string', description: 'The id under which the service has logged the request' },
      errors: { type: 'array', description: 'Every bad parameter', items: schemaRef('ParameterError') },
    },
  },
  ParameterError: {
    type: 'object',
    description: 'A parameter that was refused',
    required: ['parameter', 'detail'],
    properties: {
      parameter: { type: 'string', description: 'The name of the parameter' },
      detail: { type: 'string', description: 'What is wrong with its value' },
    },
  },
};

/** The JSON schema of what is sent: defaults and unknown fields are the business of imports. */
function wireSchema(schema: z.ZodType): Schema {
  const made: Schema = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.additionalProperties;
      if (jsonSchema.anyOf !== undefined) replace(jsonSchema, joinNull(jsonSchema));
    },
  });
  // The document says for all of them what they are written in.
  delete made.$schema;
  return made;
}

/**
 * A schema or null as one schema of two types. Generators keep the description of that, and lose the one of an
 * alternative.
 */
function joinNull(schema: Schema): Schema {
  const { anyOf, ...own } = schema;
  const [value, nothing, ...others] = anyOf as Schema[];
  if (value === undefined || nothing?.type !== 'null' || others.length > 0)
    throw new Error(`only "or null" is known here, not ${JSON.stringify(schema)}`);
  return { ...value, ...own, type: [value.type, 'null'] };
}

function replace(target: Schema, by: Schema): void {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, by);
}
