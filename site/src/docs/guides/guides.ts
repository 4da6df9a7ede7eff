// The guides at /docs, by group and in reading order. The guides are rendered from documents in the repository.

import { join } from 'node:path';
import type { DocumentPath } from './documents.ts';
import { type RenderedDocument, renderMarkdown } from './markdown.ts';

/** Base URL in the documents: where `npm start` listens. Pages replace it with their server's URL. */
export const LOCAL_URL = 'http://localhost:8080';

interface GuideSource {
  /** Last part of the path: /docs/NAME. */
  readonly name: string;
  /** Text of the navigation entry. */
  readonly label: string;
  /** Path from the repository root. */
  readonly file: DocumentPath;
}

export interface Guide extends GuideSource, RenderedDocument {
  readonly path: string;
  readonly group: GuideGroup;
}

/** Headings of the navigation. Partners need the first group; operators need the others. */
export type GuideGroup = keyof typeof GROUPS;

const GROUPS = {
  Guides: [
    { name: 'getting-started', label: 'Getting started', file: 'docs/getting-started.md' },
    { name: 'look-ups', label: 'Look-ups', file: 'docs/look-ups.md' },
    { name: 'polling', label: 'Polling transactions', file: 'docs/polling.md' },
    { name: 'webhooks', label: 'Webhooks', file: 'docs/webhooks.md' },
    { name: 'activation', label: 'Activation', file: 'docs/activation.md' },
    { name: 'errors', label: 'Errors', file: 'docs/errors.md' },
    { name: 'limits', label: 'Pages, limits, caching', file: 'docs/limits.md' },
    { name: 'client', label: 'Client library', file: 'client/README.md' },
    { name: 'agents', label: 'Agents', file: 'docs/agents.md' },
    { name: 'generators', label: 'Generated clients', file: 'docs/generators.md' },
    { name: 'changelog', label: 'Changelog', file: 'CHANGELOG.md' },
  ],
  Operators: [
    { name: 'operations', label: 'Running Offerbook', file: 'docs/operations.md' },
    { name: 'operations/installing', label: 'Installing', file: 'docs/operations/installing.md' },
    { name: 'operations/upgrading', label: 'Upgrading', file: 'docs/operations/upgrading.md' },
    { name: 'operations/serving', label: 'Serving', file: 'docs/operations/serving.md' },
    { name: 'operations/proxies', label: 'Proxies', file: 'docs/operations/proxies.md' },
    { name: 'operations/databases', label: 'Databases', file: 'docs/operations/databases.md' },
    { name: 'operations/growing', label: 'Growing', file: 'docs/operations/growing.md' },
    {
      name: 'operations/replication',
      label: 'Preparing for a failover',
      file: 'docs/operations/replication.md',
    },
    { name: 'operations/failover', label: 'After a failover', file: 'docs/operations/failover.md' },
    { name: 'operations/doctor', label: 'Checking an installation', file: 'docs/operations/doctor.md' },
    { name: 'operations/backups', label: 'Backups', file: 'docs/operations/backups.md' },
    { name: 'operations/console', label: 'Console', file: 'docs/operations/console.md' },
    { name: 'operations/monitoring', label: 'Monitoring', file: 'docs/operations/monitoring.md' },
    { name: 'operations/imports', label: 'Imports', file: 'docs/operations/imports.md' },
    { name: 'operations/activation', label: 'Running activation', file: 'docs/operations/activation.md' },
    { name: 'operations/webhooks', label: 'Sending webhooks', file: 'docs/operations/webhooks.md' },
    { name: 'privacy', label: 'Privacy', file: 'docs/privacy.md' },
    { name: 'security', label: 'Security and tokens', file: 'docs/security.md' },
  ],
  Feeds: [
    { name: 'feeds', label: 'From networks to imports', file: 'docs/feeds.md' },
    { name: 'feeds/awin', label: 'Awin', file: 'docs/feeds/awin.md' },
    { name: 'feeds/cj', label: 'CJ', file: 'docs/feeds/cj.md' },
    { name: 'feeds/impact', label: 'impact.com', file: 'docs/feeds/impact.md' },
    { name: 'feeds/partnerize', label: 'Partnerize', file: 'docs/feeds/partnerize.md' },
    { name: 'feeds/rakuten', label: 'Rakuten Advertising', file: 'docs/feeds/rakuten.md' },
    { name: 'feeds/table', label: 'Other tables', file: 'docs/feeds/table.md' },
  ],
} as const satisfies Readonly<Record<string, readonly GuideSource[]>>;

const SOURCES = Object.entries(GROUPS).flatMap(([group, sources]) =>
  sources.map((source: GuideSource) => ({ ...source, group: group as GuideGroup })),
);

/** Paths of all guides, known before the guides are loaded. */
export const GUIDE_PATHS: readonly string[] = SOURCES.map(guidePath);

/** Loads and renders all guides. Takes about 60 ms. */
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

/** Resolves a link in a document to a path on this server; undefined for a file that is not served. */
function pathOf(target: string, from: string, paths: ReadonlyMap<string, string>): string | undefined {
  if (/^(https?:\/\/|#|\/)/.test(target)) return target;
  const [file = '', fragment] = target.split('#');
  const path = paths.get(join(from, '..', file));
  return path === undefined || fragment === undefined ? path : `${path}#${fragment}`;
}
