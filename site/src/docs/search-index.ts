// The search index of /docs: every section of the guides, every operation and every webhook. The index is small enough for the
// browser to download and search locally.

import type { SearchEntry } from '../browser/reference/find-entries.ts';
import { activationOperations, activationTag, type FieldSchema, listOperations } from './api-document.ts';
import { type Documentation, REFERENCE_PATH } from './docs-page.ts';
import type { Guide } from './guides/guides.ts';
import { plainProse } from './prose.ts';
import { bodySchema, itemSchema } from './reference-schema.ts';

export function searchIndex({ document, guides }: Documentation): SearchEntry[] {
  const operations = listOperations(document).map(([path, operation]) => {
    const { operationId, summary, description, parameters } = operation;
    const fields = namedFields(itemSchema(document, operation).schema);
    return referenceEntry(operationId, `${summary}, ${path}`, description, [...parameters, ...fields]);
  });
  // All activation operations have the same parameters, so one entry describes them.
  const activation = activationOperations(document)
    .slice(0, 1)
    .map(([, { get }]) => {
      const tag = activationTag(document);
      const text = `${tag.description} ${get.description}`;
      return referenceEntry('activation', tag.name, text, get.parameters);
    });
  const webhooks = Object.entries(document.webhooks).map(([type, { post }]) => {
    const fields = namedFields(bodySchema(document, post));
    const heading = `${post.summary}, webhook ${type}`;
    return referenceEntry(post.operationId, heading, post.description, [...post.parameters, ...fields]);
  });
  return [...operations, ...activation, ...webhooks, ...guides.flatMap(guideEntries)];
}

function namedFields({ properties = {} }: FieldSchema) {
  return Object.entries(properties).map(([name, { description = '' }]) => ({ name, description }));
}

function referenceEntry(
  id: string,
  heading: string,
  text: string,
  named: readonly { readonly name: string; readonly description: string }[],
): SearchEntry {
  const described = named.map(({ name, description }) => `${name}: ${description}`);
  return {
    url: `${REFERENCE_PATH}#${id}`,
    page: 'Reference',
    heading,
    text: plainProse([text, ...described].join(' ')),
  };
}

function guideEntries({ path, title, sections }: Guide): SearchEntry[] {
  return sections.map(({ id, level, heading, text }) => ({
    url: level === 1 ? path : `${path}#${id}`,
    page: title,
    heading,
    text,
  }));
}
