// The API reference as a page, made from the OpenAPI document.

import { escapeHtml, htmlPage } from './html-page.ts';
import type { OpenApiDocument } from './openapi.ts';
import type { Reply } from './reply.ts';

export function referencePage(document: OpenApiDocument): Reply {
  const operations = Object.entries(document.paths).map(([path, { get }]) => {
    const parameters = get.parameters.map(
      ({ name, description, schema }) =>
        `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(String(schema.type ?? ''))}</td><td>${escapeHtml(description)}</td></tr>`,
    );
    const answers = Object.entries(get.responses).map(
      ([status, { description }]) => `<tr><td>${status}</td><td>${escapeHtml(description)}</td></tr>`,
    );
    return `<h2 id="${get.operationId}"><code>GET ${escapeHtml(path)}</code></h2>
<p>${escapeHtml(get.description)}</p>
<table><thead><tr><th>Parameter</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${parameters.join('')}</tbody></table>
<table><thead><tr><th>Status</th><th>Answer</th></tr></thead><tbody>${answers.join('')}</tbody></table>`;
  });
  return htmlPage(
    'API reference',
    `<h1>${escapeHtml(document.info.title)}</h1><p>${escapeHtml(document.info.description)}</p>
<p>The same as a document for tools: <a href="/openapi.json">/openapi.json</a>.</p>${operations.join('')}`,
  );
}
