// What the search at /docs looks through: every section of the guides, and every operation. It is small enough to
// be sent as a whole, so that the search needs no service.

import { activationOperations, listOperations } from '../openapi/document-objects.ts';
import { ACTIVATION_TAG } from '../openapi/words.ts';
import type { Documentation } from './docs-frame.ts';
import type { Guide } from './guides/guides.ts';
import { plainProse } from './prose.ts';
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
  const operations = listOperations(document).map(([path, operation]) => {
    const { operationId, summary, description, parameters } = operation;
    const fields = Object.entries(itemSchema(document, operation).schema.properties ?? {});
    return referenceEntry(operationId, `${summary}, ${path}`, description, [
      ...parameters,
      ...fields.map(([name, field]) => ({ name, description: field.description ?? '' })),
    ]);
  });
  // All of them take the same, so that they are told together.
  const activation = activationOperations(document)
    .slice(0, 1)
    .map(([, { get }]) => {
      const text = `${ACTIVATION_TAG.description} ${get.description}`;
      return referenceEntry('activation', ACTIVATION_TAG.name, text, get.parameters);
    });
  return [...operations, ...activation, ...guides.flatMap(guideEntries)];
}

function referenceEntry(
  id: string,
  heading: string,
  text: string,
  named: readonly { readonly name: string; readonly description: string }[],
): SearchEntry {
  const described = named.map(({ name, description }) => `${name}: ${description}`);
  return { url: `/docs#${id}`, page: 'Reference', heading, text: plainProse([text, ...described].join(' ')) };
}

function guideEntries({ path, title, sections }: Guide): SearchEntry[] {
  return sections.map(({ id, level, heading, text }) => ({
    url: level === 1 ? path : `${path}#${id}`,
    page: title,
    heading,
    text,
  }));
}
