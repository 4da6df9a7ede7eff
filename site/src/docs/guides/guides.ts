// The guides at /docs: which there are, in the order in which they are read, and the documents that they are made from.
// A guide is a document of the repository as it is, so nothing is written twice.

import { join } from 'node:path';
import type { DocumentPath } from './documents.ts';
import { type RenderedDocument, renderMarkdown } from './markdown.ts';

/** The address in the documents: where `npm start` listens. Pages show the address of their own server instead. */
export const LOCAL_URL = 'http://localhost:8080';

interface GuideSource {
  /** In the path, /docs/NAME. */
  readonly name: string;
  /** In the navigation. */
  readonly label: string;
  /** From the root of the repository. */
  readonly file: DocumentPath;
}

export interface Guide extends GuideSource, RenderedDocument {
  readonly path: string;
}

const SOURCES: readonly GuideSource[] = [
  { name: 'getting-started', label: 'Getting started', file: 'docs/getting-started.md' },
  { name: 'pagination', label: 'Pagination', file: 'docs/pagination.md' },
  { name: 'polling', label: 'Polling transactions', file: 'docs/polling.md' },
  { name: 'activation', label: 'Activation', file: 'docs/activation.md' },
  { name: 'errors', label: 'Errors', file: 'docs/errors.md' },
  { name: 'limits', label: 'Limits and caching', file: 'docs/limits.md' },
  { name: 'client', label: 'Client library', file: 'client/README.md' },
  { name: 'generators', label: 'Generated clients', file: 'docs/generators.md' },
  { name: 'changelog', label: 'Changelog', file: 'CHANGELOG.md' },
];

/** Where each guide is, before any of them is read. */
export const GUIDE_PATHS: readonly string[] = SOURCES.map(guidePath);

/** Reads and renders all of them, which takes some 20 ms: when the first one is asked for, and once. */
export async function loadGuides(baseUrl = LOCAL_URL): Promise<readonly Guide[]> {
  const { DOCUMENTS } = await import('./documents.ts');
  const paths = new Map<string, string>(SOURCES.map((source) => [source.file, guidePath(source)]));
  return SOURCES.map((source) => ({
    ...source,
    path: guidePath(source),
    ...renderMarkdown(DOCUMENTS[source.file].replaceAll(LOCAL_URL, baseUrl), (target) =>
      pathOf(target, source.file, paths),
    ),
  }));
}

function guidePath({ name }: GuideSource): string {
  return `/docs/${name}`;
}

/** Where a link of a document leads on this server; undefined when it leads to a file that is not served. */
function pathOf(target: string, from: string, paths: ReadonlyMap<string, string>): string | undefined {
  if (/^(https?:\/\/|#|\/)/.test(target)) return target;
  const [file = '', fragment] = target.split('#');
  const path = paths.get(join(from, '..', file));
  return path === undefined || fragment === undefined ? path : `${path}#${fragment}`;
}
