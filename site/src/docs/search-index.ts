// The search index of /docs: every section of the guides, and every operation. The index is small enough for the browser to
// download and search locally.

import { activationOperations, activationTag, listOperations } from './api-document.ts';
import { type Documentation, REFERENCE_PATH } from './docs-page.ts';
import type { Guide } from './guides/guides.ts';
import { plainProse } from './prose.ts';
import { itemSchema } from './reference-schema.ts';
import type { SearchEntry } from './search-entry.ts';

export function searchIndex({ document, guides }: Documentation): SearchEntry[] {
  const operations = listOperations(document).map(([path, operation]) => {
    const { operationId, summary, description, parameters } = operation;
    const fields = Object.entries(itemSchema(document, operation).schema.properties ?? {});
    return referenceEntry(operationId, `${summary}, ${path}`, description, [
      ...parameters,
      ...fields.map(([name, field]) => ({ name, description: field.description ?? '' })),
    ]);
  });
  // All activation operations have the same parameters, so one entry describes them.
  const activation = activationOperations(document)
    .slice(0, 1)
    .map(([, { get }]) => {
      const tag = activationTag(document);
      const text = `${tag.description} ${get.description}`;
      return referenceEntry('activation', tag.name, text, get.parameters);
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
