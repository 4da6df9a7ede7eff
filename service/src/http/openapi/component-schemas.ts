// The component schemas of the OpenAPI document. Items are generated from the Zod schemas that validate imports; pages and
// problems are written here. Every object is a component, because generators name their types after components. No schema
// forbids additional properties: responses may gain fields without a new version.

import { z } from 'zod';
import { ERROR_CODES } from '../../domain/api-errors.ts';
import type { ListedItem } from '../operations/operation.ts';
import { UUID } from '../operations/parameters.ts';

export type Schema = Record<string, unknown>;

export function schemaRef(component: string): Schema {
  return { $ref: `#/components/schemas/${component}` };
}

/** Returns the schema of an object. All properties are required, except those listed. */
export function objectSchema(
  description: string,
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, required, properties };
}

/** Returns the component name for a page of these items. */
export function pageComponent({ component }: ListedItem): string {
  return `${component}Page`;
}

/** Returns the components for an item: the item itself, the objects embedded in it or added by `expand`, and its page. */
export async function itemSchemas(item: ListedItem): Promise<Record<string, Schema>> {
  const schema = responseSchema(await item.loadSchema());
  const properties = { ...(schema.properties as Record<string, Schema>) };
  const embedded: Record<string, Schema> = {};
  for (const [field, component] of Object.entries(item.embedded ?? {})) {
    const list = properties[field] ?? {};
    embedded[component] = list.items as Schema;
    properties[field] = { ...list, items: schemaRef(component) };
  }
  for (const [field, { component, description, loadSchema }] of Object.entries(item.expanded ?? {})) {
    embedded[component] = responseSchema(await loadSchema());
    properties[field] = { description, anyOf: [schemaRef(component), { type: 'null' }] };
  }
  return {
    [item.component]: { ...schema, properties },
    ...embedded,
    [pageComponent(item)]: pageSchema(item),
  };
}

function pageSchema({ component }: ListedItem): Schema {
  return objectSchema(
    'One page of a list',
    {
      data: { type: 'array', description: 'Items on this page', items: schemaRef(component) },
      cursor: { ...UUID, description: 'Id of the next item; absent on the last page' },
    },
    ['cursor'],
  );
}

export const PROBLEM_SCHEMAS: Record<string, Schema> = {
  Problem: objectSchema(
    'Problem details (RFC 9457)',
    {
      type: { type: 'string', format: 'uri-reference', description: 'URL of a page that explains the error' },
      title: { type: 'string', description: 'Summary of the error; the same for every error with this code' },
      status: { type: 'integer', description: 'HTTP status' },
      detail: { type: 'string', description: 'Description of this error' },
      instance: { type: 'string', description: 'Path of the request' },
      code: { type: 'string', enum: ERROR_CODES, description: 'Stable error code for programs' },
      requestId: { type: 'string', description: "Id of the request in the service's log" },
      errors: { type: 'array', description: 'All invalid parameters', items: schemaRef('ParameterError') },
    },
    ['errors'],
  ),
  ParameterError: objectSchema('An invalid parameter', {
    parameter: { type: 'string', description: 'Name of the parameter' },
    detail: { type: 'string', description: 'What is wrong with the parameter' },
  }),
};

/** Converts a Zod schema, without defaults and the rejection of unknown fields, which apply only to imports. */
function responseSchema(zodSchema: z.ZodType): Schema {
  const { $schema: _, ...schema }: Schema = z.toJSONSchema(zodSchema, {
    io: 'output',
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
      delete jsonSchema.additionalProperties;
      if (jsonSchema.anyOf !== undefined) joinNull(jsonSchema);
    },
  });
  return schema;
}

/** Turns `anyOf: [X, null]` into `type: [X, null]`, because generators drop the description of an `anyOf`. */
function joinNull(schema: Schema): void {
  const [value, nothing, ...others] = schema.anyOf as Schema[];
  if (value === undefined || nothing?.type !== 'null' || others.length > 0)
    throw new Error(`anyOf is supported only for nullable schemas: ${JSON.stringify(schema)}`);
  delete schema.anyOf;
  Object.assign(schema, { ...value, ...schema, type: [value.type, 'null'] });
}
