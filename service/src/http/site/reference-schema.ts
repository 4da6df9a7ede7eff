// The fields of a JSON schema as a table for people; lists of objects are tables inside it.

import { type Html, html } from './html.ts';

export interface FieldSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export function fieldTable(caption: string, schema: FieldSchema): Html {
  const rows = Object.entries(schema.properties ?? {});
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows.map(([name, field]) => fieldRow(name, field))}</tbody></table></div>
${rows.map(([name, field]) => nested(name, field))}`;
}

function fieldRow(name: string, field: FieldSchema): Html {
  return html`<tr><th scope="row"><code>${name}</code></th><td class="type">${typeWords(field)}</td><td>${described(field).description ?? ''}</td></tr>`;
}

function nested(name: string, field: FieldSchema): Html | undefined {
  if (field.items?.properties === undefined) return undefined;
  return html`<details><summary>Fields of <code>${name}</code></summary>${fieldTable(`Fields of ${name}`, field.items)}</details>`;
}

/** What a schema that may also be null says of itself stands in its first alternative. */
function described(field: FieldSchema): FieldSchema {
  return field.description === undefined ? (field.anyOf?.[0] ?? field) : field;
}

export function typeWords(field: FieldSchema): string {
  if (field.anyOf !== undefined) return field.anyOf.map(typeWords).join(' or ');
  if (field.enum !== undefined) return field.enum.join(', ');
  if (field.type === 'array') return `list of ${pluralOf(field.items ?? {})}`;
  if (field.format === 'uuid') return 'UUID';
  if (field.format === 'url') return 'URL';
  if (field.format === 'date-time-local') return 'date-time (UTC)';
  if (field.type === 'integer' && field.maximum !== undefined) {
    const range = `${field.minimum ?? 0} to ${field.maximum}`;
    return field.default === undefined ? range : `${range}, else ${field.default}`;
  }
  return field.type ?? 'any';
}

function pluralOf(items: FieldSchema): string {
  return items.type === 'object' ? 'objects' : `${items.type ?? 'any'}s`;
}
