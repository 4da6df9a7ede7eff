// The fields of a JSON schema as a table for people; lists of objects are tables beside it.

import type { OpenApiDocument, OperationObject } from '../openapi/document-objects.ts';
import { dataTable } from './data-table.ts';
import { type Html, html } from './html.ts';
import { proseHtml } from './prose.ts';

interface FieldSchema {
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

export type Schemas = Readonly<Record<string, FieldSchema>>;

/** The name of the component that a schema refers to. */
export function componentOf({ $ref }: FieldSchema): string {
  return $ref?.split('/').at(-1) ?? '';
}

export function resolve(schema: FieldSchema, schemas: Schemas): FieldSchema {
  if (schema.$ref === undefined) return schema;
  const found = schemas[componentOf(schema)];
  if (found === undefined) throw new Error(`the document has no ${schema.$ref}`);
  return found;
}

/** What the pages of an operation hold. */
export function itemSchema(
  document: OpenApiDocument,
  operation: OperationObject,
): { name: string; schema: FieldSchema } {
  const schemas = document.components.schemas as Schemas;
  const page = operation.responses[200]?.content?.['application/json']?.schema as FieldSchema;
  const data = resolve(page, schemas).properties?.data?.items ?? {};
  return { name: componentOf(data), schema: resolve(data, schemas) };
}

export function fieldTable(caption: string, schema: FieldSchema, schemas: Schemas): Html {
  const fields = Object.entries(schema.properties ?? {});
  const rows = fields.map(([name, field]) => [
    html`<code>${name}</code>`,
    html`<span class="type">${typeWords(field)}</span>`,
    proseHtml(field.description ?? ''),
  ]);
  return html`${dataTable(caption, ['Field', 'Type', 'Meaning'], rows)}
${fields.map(([name, field]) => nested(name, field, schemas))}`;
}

function nested(name: string, { items }: FieldSchema, schemas: Schemas): Html | undefined {
  if (items?.$ref === undefined) return undefined;
  const caption = `Fields of ${componentOf(items)}`;
  return html`<details><summary>Fields of <code>${name}</code></summary>${fieldTable(caption, resolve(items, schemas), schemas)}</details>`;
}

export function typeWords(field: FieldSchema): string {
  const [type, ...others] = typeof field.type === 'string' ? [field.type] : (field.type ?? []);
  return [oneType({ ...field, type: type ?? 'any' }), ...others].join(' or ');
}

function oneType(field: FieldSchema & { readonly type: string }): string {
  if (field.enum !== undefined) return field.enum.join(', ');
  if (field.type === 'array') return `list of ${pluralOf(field.items ?? {})}`;
  if (field.format === 'uuid') return 'UUID';
  if (field.format === 'url') return 'URL';
  if (field.format === 'date-time-local') return 'date-time (UTC)';
  if (field.type === 'integer' && field.maximum !== undefined) {
    const range = `${field.minimum ?? 0} to ${field.maximum}`;
    return field.default === undefined ? range : `${range}, else ${field.default}`;
  }
  return field.type;
}

function pluralOf(items: FieldSchema): string {
  return items.$ref === undefined ? `${items.type ?? 'any'}s` : componentOf(items);
}
