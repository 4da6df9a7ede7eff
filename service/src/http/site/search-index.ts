// What the search at /docs looks through: every section of the guides, and every operation. It is small enough to
// be sent as a whole, so that the search needs no service.

import type { Documentation } from './docs-frame.ts';
import type { Guide } from './guides/guides.ts';
import type { OpenApiDocument, OperationObject } from './openapi.ts';
import { itemSchema } from './reference-schema.ts';

export interface SearchEntry {
  readonly url: string;
  /** Of the page. */
  readonly page: string;
  /** Of the part of the page. */
  readonly heading: string;
  readonly text: string;
}

export function searchIndex({ document, guides }: Documentation): SearchEntry[] {
  return [
    ...Object.entries(document.paths).map(([path, { get }]) => operationEntry(document, path, get)),
    ...guides.flatMap(guideEntries),
  ];
}

function guideEntries({ path, title, sections }: Guide): SearchEntry[] {
  return sections.map(({ id, level, heading, text }) => ({
    url: level === 1 ? path : `${path}#${id}`,
    page: title,
    heading,
    text,
  }));
}

function operationEntry(document: OpenApiDocument, path: string, operation: OperationObject): SearchEntry {
  const { schema } = itemSchema(document, operation);
  const described = [
    ...operation.parameters.map(({ name, description }) => `${name}: ${description}`),
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => `${name}: ${field.description ?? ''}`),
  ];
  return {
    url: `/docs#${operation.operationId}`,
    page: 'Reference',
    heading: `${operation.summary}, ${path}`,
    text: [operation.description, ...described].join(' '),
  };
}
