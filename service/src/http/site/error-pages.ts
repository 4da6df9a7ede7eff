// The pages under /errors/: for each error what it means, what to do, and what it looks like. And the page for people who
// come to a path where there is nothing; programs get a problem document there.

import { type ApiError, ERROR_CODES, ERRORS, type ErrorCode } from '../../domain/api-errors.ts';
import type { StaticFile } from '../content/static-file.ts';
import { exampleProblem } from '../openapi/examples.ts';
import { listRetailers } from '../operations/list-retailers.ts';
import { listTransactions } from '../operations/list-transactions.ts';
import { dataTable } from './data-table.ts';
import { type Html, html } from './html.ts';
import { type Frame, htmlPage, type Place } from './html-page.ts';

const RETRY: Partial<Record<ErrorCode, string>> = {
  rate_limited: 'Yes, after the number of seconds in the Retry-After header.',
  unavailable: 'Yes, after the number of seconds in the Retry-After header.',
  internal: 'Yes, after a pause.',
};

export function errorList(frame: Frame): StaticFile {
  const main = html`<div class="screen medium prose">
<h1>Errors</h1>
<p class="lead">Every error is a problem document (RFC 9457). Programs look at its <code>code</code>, which never changes its meaning.</p>
${errorTable('All errors')}
</div>`;
  return page('Errors', main, frame, '/errors/');
}

/** Every code, with a link to its page. */
export function errorTable(caption: string): Html {
  const rows = ERROR_CODES.map((code) => [
    html`<a href="/errors/${code}"><code>${code}</code></a>`,
    ERRORS[code].status,
    ERRORS[code].title,
  ]);
  return dataTable(caption, ['Code', 'Status', 'Meaning'], rows);
}

export function errorPage(code: ErrorCode, frame: Frame): StaticFile {
  const { status, title, meaning, remedy } = ERRORS[code];
  const operation = code === 'private_token_in_browser' ? listTransactions : listRetailers;
  const main = html`<div class="screen narrow prose">
<nav aria-label="Way back"><a class="back" href="/errors/">All errors</a></nav>
<h1>${title}</h1>
<p class="tags"><span class="tag">Status ${status}</span> <code class="tag">${code}</code></p>
<h2>What it means</h2><p>${meaning}</p>
<h2>What to do</h2><p>${remedy}</p>
<h2>Is it worth trying again?</h2><p>${RETRY[code] ?? 'No: the same request will be refused every time.'}</p>
<h2>What it looks like</h2>
<pre tabindex="0"><code data-language="json">${JSON.stringify(exampleProblem(code, operation), null, 2)}</code></pre>
</div>`;
  return page(title, main, frame, '/errors/');
}

/** For people who followed a link that could not be activated. It repeats nothing of the link, which may be personal. */
export function linkErrorPage({ code, errors }: ApiError, frame: Frame): StaticFile {
  const { title } = ERRORS[code];
  const main = html`<div class="screen narrow prose">
<h1>${title}</h1>
<p class="lead">${LINK_WORDS[code] ?? 'The link cannot be followed right now. Please try again in a moment.'}</p>
${errors === undefined ? undefined : html`<ul>${errors.map(({ parameter, detail }) => html`<li><code>${parameter}</code> ${detail}</li>`)}</ul>`}
<p class="muted">For those who made the link: <a href="/errors/${code}"><code>${code}</code></a>.</p>
</div>`;
  return page(title, main, frame);
}

const LINK_WORDS: Partial<Record<ErrorCode, string>> = {
  deal_not_found: 'The deal may have been withdrawn, or the link may not be complete.',
  deal_gone: 'The shop has ended it. The page that you came from may have others.',
  invalid_parameter: 'The link is not complete, so that the shop could not be told who sent you.',
};

export function notFoundPage(frame: Frame): StaticFile {
  const { title } = ERRORS.not_found;
  const main = html`<div class="screen narrow prose">
<h1>${title}</h1>
<p class="lead">The address may be mistyped, or the page may have moved.</p>
<ul class="ways">
<li><a href="/">${frame.explorer === 'on' ? 'Explorer' : 'Home'}</a></li>
<li><a href="/docs">API reference</a>, with every operation and its path</li>
<li><a href="/errors/">Errors</a>, and what to do about each</li>
</ul>
<p class="muted">Programs that ask for this path get a problem document: <a href="/errors/not_found"><code>not_found</code></a>.</p>
</div>`;
  return page(title, main, frame);
}

function page(title: string, main: Html, frame: Frame, place?: Place): StaticFile {
  return htmlPage({ title: `${title} · Offerbook`, place, main }, frame);
}
