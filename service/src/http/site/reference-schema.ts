// The fields of a JSON schema as a table for people; lists of objects are tables beside it.

import { type Html, html } from './html.ts';

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

export function fieldTable(caption: string, schema: FieldSchema, schemas: Schemas): Html {
  const rows = Object.entries(schema.properties ?? {});
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.map(([name, field]) => fieldRow(name, field))}</tbody></table></div>
${rows.map(([name, field]) => nested(name, field, schemas))}`;
}

function fieldRow(name: string, field: FieldSchema): Html {
  return html`<tr><th scope="row"><code>${name}</code></th><td class="type">${typeWords(field)}</td><td>${field.description ?? ''}</td></tr>`;
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
