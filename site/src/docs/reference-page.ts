// The API reference at /docs/reference, rendered from the OpenAPI document: parameters, responses, code samples and a form that sends
// requests. The form accepts only public tokens; a private token must never be entered in a page.

import { dataTable } from '../data-table.ts';
import { errorTable } from '../error-pages.ts';
import type { GuestAccess } from '../explorer-page.ts';
import { type Html, html } from '../html.ts';
import type { Frame, Page } from '../html-page.ts';
import {
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  type ApiWebhook,
  activationOperations,
  activationTag,
  listOperations,
} from './api-document.ts';
import { colouredCode, sampleBlock } from './code-colours.ts';
import type { CodeSample } from './code-samples.ts';
import { type Documentation, docsPage, REFERENCE_PATH } from './docs-page.ts';
import { paragraphs, proseHtml } from './prose.ts';
import { bodySchema, fieldTable, itemSchema, typeWords } from './reference-schema.ts';

export function referencePage(
  documentation: Documentation,
  guest: GuestAccess | undefined,
  frame: Frame,
): Page {
  const { document } = documentation;
  const body = html`${introduction(document, guest)}
${listOperations(document).map(([path, get]) => operationSection(document, path, get))}
${activationSection(document, guest)}
${Object.entries(document.webhooks).map(([type, { post }]) => webhookSection(document, type, post))}
<section class="stack" id="errors" aria-labelledby="errors-title"><h2 id="errors-title">Error codes ${anchor('errors')}</h2>
<p>Every error is a problem document (RFC 9457) with a stable <code>code</code>. <a href="/docs/errors">The guide</a> lists common mistakes.</p>
${errorTable('Errors', documentation.errors)}</section>`;
  const meta = { 'offerbook-token': guest?.token };
  return docsPage({ path: REFERENCE_PATH, title: 'API reference', body, meta }, documentation, frame);
}

function anchor(id: string): Html {
  return html`<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
}

function introduction(document: ApiDocument, guest: GuestAccess | undefined): Html {
  const variables = Object.entries({ OFFERBOOK_PUBLIC_TOKEN: guest?.token, OFFERBOOK_ORG_ID: guest?.orgId })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `export ${name}=${value}`);
  const [about = '', ...others] = document.info.description.split('\n\n');
  return html`<section class="stack" id="start">
<h1>API reference</h1>
<p class="lead">${proseHtml(about)}</p>
${others.map(paragraphs)}
<p><a href="/docs/getting-started">Getting started</a> makes the first requests step by step; this page is the complete reference. Every list requires a token: <code>Authorization: Bearer …</code>. Public tokens (<code>ob_pub_</code>) read the catalogue, from servers and browsers. Private tokens (<code>ob_prv_</code>) read transactions, from servers only. The samples read the tokens from the environment variables <code>OFFERBOOK_PUBLIC_TOKEN</code> and <code>OFFERBOOK_PRIVATE_TOKEN</code>; the activation samples also need <code>OFFERBOOK_ORG_ID</code>, the public id of your organisation.</p>
<p>This service hosts the client library that the TypeScript samples use. Install <a href="/client/offerbook-client.tgz">the package</a> with npm, or import <a href="/client/offerbook-client.js">the module</a> in browsers and Deno. <a href="/docs/client">The guide</a> has both commands.</p>
<div class="token stack">
<label for="token">Public token for this page</label>
<input id="token" type="text" placeholder="ob_pub_…" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="token-problem token-help">
<p id="token-problem" class="problem" role="alert"></p>
<p id="token-help" class="muted">${
    guest !== undefined
      ? 'This server has filled in a token, so the forms below work right away.'
      : 'Used for the requests below. It stays in this tab and is forgotten when you close it.'
  }</p>
</div>
${variables.length === 0 ? undefined : html`<p>For the catalogue and activation samples:</p>${sampleBlock('command', variables.join('\n'))}`}
</section>`;
}

function operationSection(document: ApiDocument, path: string, operation: ApiOperation): Html {
  const id = operation.operationId;
  const isPublic = operation.security.some((scheme) => 'publicToken' in scheme);
  return html`<section class="operation stack" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${operation.summary} ${anchor(id)}</h2>
<p class="row"><span class="method">GET</span> <code>${path}</code> <span class="tag">${isPublic ? 'public token' : 'private token, servers only'}</span></p>
${paragraphs(operation.description)}
${samples(id, operation['x-codeSamples'])}
<h3>Parameters</h3>
${operation.parameters.length === 0 ? html`<p>None.</p>` : parameterTable(operation)}
${isPublic ? tryForm(path, operation) : html`<p class="muted">This operation has no form: a private token must not be used in a browser. Set <code>OFFERBOOK_PRIVATE_TOKEN</code> and run the sample above instead.</p>`}
<h3>Response</h3>
${path.includes('{id}') ? itemDescription(document, path) : pageDescription(document, operation)}
${headerTable(document, operation)}
${exampleBlock(operation.responses[200]?.content)}
</section>`;
}

function pageDescription(document: ApiDocument, operation: ApiOperation): Html {
  const { name, schema } = itemSchema(document, operation);
  return html`<p>A page: <code>data</code> is a list of the objects below; <code>cursor</code> is present if there are more pages.</p>
${fieldTable(`Fields of ${name}`, schema, document.components.schemas ?? {})}`;
}

/** Links to the section of the list, which describes the fields. */
function itemDescription({ paths }: ApiDocument, path: string): Html {
  const list = paths[path.replace('{id}/', '')]?.get.operationId;
  return html`<p>The object, with the same fields as <a href="#${list}">in the list</a>.</p>`;
}

/** Describes all activation operations, which have the same parameters; undefined if activation is off. */
function activationSection(document: ApiDocument, guest: GuestAccess | undefined): Html | undefined {
  const all = activationOperations(document);
  const { get, post } = all[0]?.[1] ?? {};
  if (get === undefined || post === undefined) return undefined;
  const tag = activationTag(document);
  const rows = all.flatMap(([path, { get, post }]) => [
    [html`<span class="method">GET</span> <code>${path}</code>`, get.summary],
    ...(post === undefined
      ? []
      : [[html`<span class="method">POST</span> <code>${path}</code>`, post.summary]]),
  ]);
  const both = [...get['x-codeSamples'], ...post['x-codeSamples']];
  return html`<section class="operation stack" id="activation" aria-labelledby="activation-title">
<h2 id="activation-title">${tag.name} ${anchor('activation')}</h2>
<p>${proseHtml(tag.description)}</p>
${dataTable('Activation operations', ['Operation', 'What it does'], rows)}
<p><strong>GET</strong>: ${proseHtml(get.description)}</p>
<p><strong>POST</strong>: ${proseHtml(post.description)}</p>
${samples(
  'activation',
  both.map((sample, number) => ({ ...sample, label: number === 0 ? 'GET' : 'POST' })),
)}
<h3>Parameters</h3>
${parameterTable(get)}
${tryForm('/v1/cashback-offers/{id}/activate/', post, {
  method: 'POST',
  note: 'Returns a link without recording a click until you open the link. Leave id empty to use the first offer in the list.',
  values: { orgId: guest?.orgId ?? '', passbackUid: 'user-8842' },
})}
</section>`;
}

function webhookSection(document: ApiDocument, type: string, webhook: ApiWebhook): Html {
  const { operationId: id, summary, description, parameters, requestBody, responses } = webhook;
  const headers = parameters.map(({ name, description }) => [
    html`<code>${name}</code>`,
    proseHtml(description),
  ]);
  const statuses = Object.entries(responses).map(([status, { description }]) => [
    status,
    proseHtml(description),
  ]);
  return html`<section class="operation stack" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${summary} ${anchor(id)}</h2>
<p class="row"><span class="method">POST</span> <code>${type}</code> <span class="tag">webhook, sent to your server</span></p>
${paragraphs(description)}
<p><a href="/docs/webhooks">The guide</a> has receivers in Node, Python, PHP and Go.</p>
<h3>Headers</h3>
${dataTable(`Headers of ${id}`, ['Header', 'Meaning'], headers)}
<h3>Body</h3>
${fieldTable(`Fields of ${type}`, bodySchema(document, webhook), document.components.schemas ?? {})}
<h3>Your response</h3>
${dataTable(`Responses to ${id}`, ['Status', 'Meaning'], statuses)}
${exampleBlock(requestBody.content)}
</section>`;
}

function exampleBlock(content: ApiWebhook['requestBody']['content'] | undefined): Html {
  const text = JSON.stringify(content?.['application/json']?.example, null, 2);
  return html`<details><summary>Example</summary><pre tabindex="0"><code data-language="json">${colouredCode(text, 'json')}</code></pre></details>`;
}

function headerTable(document: ApiDocument, { operationId, responses }: ApiOperation): Html {
  const names = Object.keys(responses[200]?.headers ?? {});
  const described = document.components.headers ?? {};
  const rows = names.map((name) => [
    html`<code>${name}</code>`,
    proseHtml(described[name]?.description ?? ''),
  ]);
  return html`<details><summary>Headers: ${names.join(', ')}</summary>
${dataTable(`Headers of ${operationId}`, ['Header', 'Meaning'], rows)}</details>`;
}

/** The tabs are radio buttons, which work without a script. */
function samples(id: string, all: readonly CodeSample[]): Html {
  return html`<fieldset class="samples row"><legend class="unseen">Language</legend>
${all.map(
  ({ label }, number) =>
    html`<input type="radio" name="${id}-language" id="${id}-${label}" data-language="${label}"${number === 0 ? html` checked` : undefined}><label for="${id}-${label}">${label}</label>`,
)}
${all.map(({ label, source }) => sampleBlock(label, source))}
</fieldset>`;
}

function parameterTable({ parameters, operationId }: ApiOperation): Html {
  const rows = parameters.map(({ name, description, schema }) => [
    html`<code>${name}</code>`,
    html`<span class="type">${typeWords(schema)}</span>`,
    proseHtml(description),
  ]);
  return dataTable(`Parameters of ${operationId}`, ['Parameter', 'Type', 'Meaning'], rows);
}

interface TryOptions {
  readonly method: 'GET' | 'POST';
  readonly note?: string;
  /** Initial values of fields. */
  readonly values: Readonly<Record<string, string>>;
}

const GET_PAGE: TryOptions = { method: 'GET', values: { limit: '2' } };

/** The form is hidden until the script that sends it has loaded. */
function tryForm(
  path: string,
  { parameters, operationId }: ApiOperation,
  { method, note, values }: TryOptions = GET_PAGE,
): Html {
  return html`<form class="try panel stack" data-path="${path}" data-method="${method}" hidden aria-label="Try ${path}">
<h3>Try it</h3>
${note === undefined ? undefined : html`<p class="muted">${note}</p>`}
<div class="fields">${parameters.map((parameter) => parameterField(operationId, parameter, values[parameter.name] ?? ''))}</div>
<button type="submit" class="primary">Send</button>
</form>`;
}

function parameterField(operationId: string, { name, example }: ApiParameter, value: string): Html {
  const id = `${operationId}-${name}`;
  return html`<div class="field"><label for="${id}">${name}</label><input id="${id}" name="${name}" type="text" value="${value}" placeholder="${example ?? ''}" autocomplete="off" spellcheck="false"></div>`;
}
