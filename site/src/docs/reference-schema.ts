// Renders JSON Schemas as lists of definitions. A field with an object or a list of objects contains a list of its own.

import { type Html, html } from '../html.ts';
import type { ApiDocument, ApiOperation, ApiWebhook, FieldSchema } from './api-document.ts';
import { proseHtml } from './prose.ts';

type Schemas = Readonly<Record<string, FieldSchema>>;

/** Returns the name of the component that a schema refers to. */
function componentOf({ $ref }: FieldSchema): string {
  return $ref?.split('/').at(-1) ?? '';
}

function resolve(schema: FieldSchema, schemas: Schemas): FieldSchema {
  if (schema.$ref === undefined) return schema;
  const found = schemas[componentOf(schema)];
  if (found === undefined) throw new Error(`the document has no ${schema.$ref}`);
  return found;
}

/** Returns the schema of the items that an operation returns, on a page or alone. */
export function itemSchema({ components }: ApiDocument, { responses }: ApiOperation) {
  const schemas = components.schemas ?? {};
  const returned = responses[200]?.content?.['application/json']?.schema ?? {};
  const item = resolve(returned, schemas).properties?.data?.items ?? returned;
  return { name: componentOf(item), schema: resolve(item, schemas) };
}

/** Returns the schema of a webhook's body. */
export function bodySchema({ components }: ApiDocument, { requestBody }: ApiWebhook): FieldSchema {
  return resolve(requestBody.content['application/json']?.schema ?? {}, components.schemas ?? {});
}

/** A parameter, a field, a header or a status. */
export interface Definition {
  /** A string is shown as code. */
  readonly name: string | Html;
  readonly type?: string;
  readonly description: string;
  readonly more?: Html | undefined;
}

export function definitions(label: string, all: readonly Definition[]): Html {
  return html`<dl class="definitions" aria-label="${label}">${all.map(
    ({ name, type, description, more }) =>
      html`<div><dt>${typeof name === 'string' ? html`<code>${name}</code>` : name}${type === undefined ? undefined : html` <span class="type">${type}</span>`}</dt><dd>${proseHtml(description)}${more}</dd></div>\n`,
  )}</dl>`;
}

/** Labels of nested lists contain the path to the field, so that no two lists of a page have the same label. */
export function fieldList(label: string, schema: FieldSchema, schemas: Schemas): Html {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => ({
    name,
    type: typeWords(field),
    description: field.description ?? '',
    more: nested(`${label}, ${name}`, name, field, schemas),
  }));
  return definitions(label, rows);
}

function nested(label: string, name: string, field: FieldSchema, schemas: Schemas): Html | undefined {
  const object = field.items ?? field;
  if (object.$ref === undefined) return undefined;
  return html`<details><summary>Fields of <code>${name}</code></summary>${fieldList(label, resolve(object, schemas), schemas)}</details>`;
}

export function typeWords(field: FieldSchema): string {
  if (field.$ref !== undefined) return componentOf(field);
  const [type, ...others] = typeof field.type === 'string' ? [field.type] : (field.type ?? []);
  return [oneType({ ...field, type: type ?? 'any' }), ...others].join(' or ');
}

function oneType(field: FieldSchema & { readonly type: string }): string {
  if (field.enum !== undefined) return field.enum.join(', ');
  if (field.type === 'array') return `list of ${pluralOf(field.items ?? {})}`;
  if (field.format === 'uuid') return 'UUID';
  if (field.format === 'date-time-local') return 'date-time (UTC)';
  if (field.type === 'integer' && field.maximum !== undefined) {
    const range = `${field.minimum ?? 0} to ${field.maximum}`;
    return field.default === undefined ? range : `${range}, default ${field.default}`;
  }
  return field.type;
}

function pluralOf(items: FieldSchema): string {
  return items.$ref === undefined ? `${items.type ?? 'any'}s` : componentOf(items);
}
