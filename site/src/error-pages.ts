// The pages for developers: those under /errors/, one for each error code, and the page for an unknown path.

import type { Problem } from '@offerbook/client';
import { dataTable } from './data-table.ts';
import { colouredCode } from './docs/code-colours.ts';
import { type Html, html } from './html.ts';
import { type Frame, htmlPage, type Page, type Section } from './html-page.ts';

type ErrorCode = Problem['code'];

export interface ListedError {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
}

export interface DescribedError extends ListedError {
  readonly meaning: string;
  readonly remedy: string;
  readonly example: object;
}

const RETRY: Partial<Record<ErrorCode, string>> = {
  rate_limited: 'Yes, after the number of seconds in the Retry-After header.',
  unavailable: 'Yes, after the number of seconds in the Retry-After header.',
  internal: 'Yes, after a pause.',
};

export function errorList(errors: readonly ListedError[], frame: Frame): Page {
  const main = html`<div class="screen medium prose">
<h1>Errors</h1>
<p class="lead">Every error is a problem document (RFC 9457) with a stable <code>code</code> that programs can rely on.</p>
${errorTable('All errors', errors)}
</div>`;
  return page('Errors', main, frame, '/errors/');
}

/** Renders a table of error codes with links to their pages. */
export function errorTable(caption: string, errors: readonly ListedError[]): Html {
  const rows = errors.map(({ code, status, title }) => [
    html`<a href="/errors/${code}"><code>${code}</code></a>`,
    status,
    title,
  ]);
  return dataTable(caption, ['Code', 'Status', 'Meaning'], rows);
}

export function errorPage(error: DescribedError, frame: Frame): Page {
  const { code, status, title, meaning, remedy, example } = error;
  const main = html`<div class="screen narrow prose">
<nav aria-label="Back"><a class="back" href="/errors/">All errors</a></nav>
<h1>${title}</h1>
<p class="tags"><span class="tag">Status ${status}</span> <code class="tag">${code}</code></p>
<h2>What it means</h2><p>${meaning}</p>
<h2>What to do</h2><p>${remedy}</p>
<h2>Should I retry?</h2><p>${RETRY[code] ?? 'No. The same request will fail again.'}</p>
<h2>Example</h2>
<pre tabindex="0"><code data-language="json">${colouredCode(JSON.stringify(example, null, 2), 'json')}</code></pre>
</div>`;
  return page(title, main, frame, '/errors/');
}

export function notFoundPage(title: string, frame: Frame): Page {
  const main = html`<div class="screen narrow prose">
<h1>${title}</h1>
<p class="lead">The address may be mistyped, or the page may have moved.</p>
<ul class="stack">
<li><a href="/">${frame.explorer === 'on' ? 'Explorer' : 'Home'}</a></li>
<li><a href="/docs/reference">API reference</a>, with every operation and its path</li>
<li><a href="/errors/">Errors</a>, with what to do about each</li>
</ul>
<p class="muted">Programs that request this path get a problem document: <a href="/errors/not_found"><code>not_found</code></a>.</p>
</div>`;
  return page(title, main, frame);
}

function page(title: string, main: Html, frame: Frame, section?: Section): Page {
  return htmlPage({ title: `${title} · Offerbook`, section, main }, frame);
}
