// The frame of every page under /docs: the list of guides and operations, the search, and the script. Without the script,
// the pages are readable but have no search.

import type { ListedError } from '../error-pages.ts';
import { type Html, html } from '../html.ts';
import { type Frame, htmlPage, type Page } from '../html-page.ts';
import { type ApiDocument, activationOperations, activationTag, listOperations } from './api-document.ts';
import type { Guide, GuideGroup } from './guides/guides.ts';

export const REFERENCE_PATH = '/docs/reference';

export interface Documentation {
  readonly document: ApiDocument;
  readonly guides: readonly Guide[];
  readonly errors: readonly ListedError[];
}

interface DocsPageParts {
  readonly path: string;
  readonly title: string;
  readonly body: Html;
  readonly meta?: Readonly<Record<string, string | undefined>>;
}

export function docsPage(
  { path, title, body, meta }: DocsPageParts,
  documentation: Documentation,
  frame: Frame,
): Page {
  const guideGroup = (group: GuideGroup) => {
    const guides = documentation.guides.filter((guide) => guide.group === group);
    return html`<h2>${group}</h2><ul>${guides.map((guide) => guideLink(guide, path))}</ul>`;
  };
  const main = html`<div class="docs">
<div class="contents stack">
${searchForm()}
<details class="menu"><summary>All pages</summary><nav aria-label="Documentation">
<ul>${pageLink('/docs', 'Overview', path)}</ul>
${guideGroup('Guides')}
<h2>Reference</h2><ul>
${pageLink(REFERENCE_PATH, 'All operations', path)}
${listOperations(documentation.document).map(
  ([operationPath, get]) =>
    html`<li><a href="${REFERENCE_PATH}#${get.operationId}">${get.summary}<code>${operationPath}</code></a></li>`,
)}
${activationOperations(documentation.document).length > 0 ? html`<li><a href="${REFERENCE_PATH}#activation">${activationTag(documentation.document).name}<code>/v1/…/{id}/activate/</code></a></li>` : undefined}
${Object.entries(documentation.document.webhooks).map(
  ([type, { post }]) =>
    html`<li><a href="${REFERENCE_PATH}#${post.operationId}">${post.summary}<code>webhook ${type}</code></a></li>`,
)}
<li><a href="${REFERENCE_PATH}#errors">Error codes</a></li>
</ul>
${guideGroup('Operators')}
${guideGroup('Feeds')}</nav></details></div>
<div class="prose">${body}</div></div>`;
  const script = frame.urls['/assets/reference.js'];
  return htmlPage({ title: `${title} · Offerbook`, section: '/docs', main, script, meta }, frame);
}

export function guidePage(path: string, documentation: Documentation, frame: Frame): Page {
  const guide = documentation.guides.find((one) => one.path === path);
  if (guide === undefined) throw new Error(`there is no guide at ${path}`);
  return docsPage({ path, title: guide.title, body: guide.body }, documentation, frame);
}

function pageLink(path: string, label: string, current: string): Html {
  return html`<li><a href="${path}"${path === current ? html` aria-current="page"` : undefined}>${label}</a></li>`;
}

/** Links to a guide. If the guide is the current page, its sections are listed too. */
function guideLink({ path, label, sections }: Guide, current: string): Html {
  if (path !== current) return html`<li><a href="${path}">${label}</a></li>`;
  const parts = sections.filter(({ level }) => level === 2);
  return html`<li><a href="${path}" aria-current="page">${label}</a>
<ul class="parts">${parts.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>`)}</ul></li>`;
}

function searchForm(): Html {
  return html`<form role="search" class="find stack" hidden>
<label for="find">Search the documentation</label>
<input id="find" aria-keyshortcuts="/" type="search" autocomplete="off" spellcheck="false" maxlength="100" aria-controls="found">
<div id="found" class="found" role="status"></div>
</form>`;
}
