// What the search at /docs looks through: every section of the guides, and every operation. It is small enough to
// be sent as a whole, so that the search needs no service.

import type { Documentation } from './docs-frame.ts';
import type { Guide } from './guides/guides.ts';
import {
  activationOperations,
  hasActivation,
  listOperations,
  type OpenApiDocument,
  type OperationObject,
} from './openapi-objects.ts';
import { ACTIVATION_TAG } from './openapi-words.ts';
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
    ...listOperations(document).map(([path, get]) => operationEntry(document, path, get)),
    ...(hasActivation(document) ? [activationEntry(document)] : []),
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

function activationEntry(document: OpenApiDocument): SearchEntry {
  const [first] = activationOperations(document);
  const described = first?.[1].get.parameters.map(({ name, description }) => `${name}: ${description}`) ?? [];
  return {
    url: '/docs#activation',
    page: 'Reference',
    heading: ACTIVATION_TAG.name,
    text: [ACTIVATION_TAG.description, first?.[1].get.description ?? '', ...described].join(' '),
  };
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
