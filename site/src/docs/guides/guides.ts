// The guides at /docs, by group and in reading order. The guides are rendered from documents in the repository.

import { join } from 'node:path';
import { type RenderedDocument, renderMarkdown } from './markdown.ts';

/** Base URL in the documents: where `npm start` listens. Pages replace it with their server's URL. */
export const LOCAL_URL = 'http://localhost:8080';

interface GuideSource {
  /** Path from the repository root. */
  readonly file: string;
  readonly path: string;
  /** Text of the navigation entry. */
  readonly label: string;
  readonly group: GuideGroup;
}

export interface Guide extends GuideSource, RenderedDocument {}

/** Headings of the navigation. Partners need the first group; operators need the others. */
export type GuideGroup = keyof typeof GROUPS;

/** Labels by name. The guide NAME is at /docs/NAME. */
const GROUPS = {
  Guides: {
    'getting-started': 'Getting started',
    'look-ups': 'Look-ups',
    polling: 'Polling transactions',
    webhooks: 'Webhooks',
    activation: 'Activation',
    errors: 'Errors',
    limits: 'Pages, limits, caching',
    client: 'Client library',
    agents: 'Agents',
    generators: 'Generated clients',
    changelog: 'Changelog',
  },
  Operators: {
    operations: 'Running Offerbook',
    'operations/installing': 'Installing',
    'operations/upgrading': 'Upgrading',
    'operations/serving': 'Serving',
    'operations/proxies': 'Proxies',
    'operations/databases': 'Databases',
    'operations/growing': 'Growing',
    'operations/replication': 'Preparing for a failover',
    'operations/failover': 'After a failover',
    'operations/doctor': 'Checking an installation',
    'operations/backups': 'Backups',
    'operations/console': 'Console',
    'operations/monitoring': 'Monitoring',
    'operations/imports': 'Imports',
    'operations/activation': 'Running activation',
    'operations/webhooks': 'Sending webhooks',
    privacy: 'Privacy',
    security: 'Security and tokens',
  },
  Feeds: {
    feeds: 'From networks to imports',
    'feeds/awin': 'Awin',
    'feeds/cj': 'CJ',
    'feeds/impact': 'impact.com',
    'feeds/partnerize': 'Partnerize',
    'feeds/rakuten': 'Rakuten Advertising',
    'feeds/table': 'Other tables',
  },
} as const;

const SOURCES = Object.entries(GROUPS).flatMap(([group, labels]) =>
  Object.entries(labels).map(([name, label]): GuideSource => {
    return { file: fileOf(name), path: `/docs/${name}`, label, group: group as GuideGroup };
  }),
);

/** Paths of all guides, known before the guides are loaded. */
export const GUIDE_PATHS: readonly string[] = SOURCES.map(({ path }) => path);

/** Documents from which the guides are rendered. */
export const GUIDE_FILES: readonly string[] = SOURCES.map(({ file }) => file);

/** Renders all guides. Takes about 60 ms. `documents` contains the text of each of GUIDE_FILES. */
export function renderGuides(
  documents: Readonly<Record<string, string>>,
  baseUrl = LOCAL_URL,
): readonly Guide[] {
  const paths = new Map(SOURCES.map(({ file, path }) => [file, path]));
  return SOURCES.map((source) => {
    const text = (documents[source.file] ?? '').replaceAll(LOCAL_URL, baseUrl);
    return { ...source, ...renderMarkdown(text, (target) => pathOf(target, source.file, paths)) };
  });
}

function fileOf(name: string): string {
  if (name === 'changelog') return 'CHANGELOG.md';
  return name === 'client' ? 'client/README.md' : `docs/${name}.md`;
}

/** Resolves a link in a document to a path on this server; undefined for a file that is not served. */
function pathOf(target: string, from: string, paths: ReadonlyMap<string, string>): string | undefined {
  if (/^(https?:\/\/|#|\/)/.test(target)) return target;
  const [file = '', fragment] = target.split('#');
  const path = paths.get(join(from, '..', file));
  return path === undefined || fragment === undefined ? path : `${path}#${fragment}`;
}
