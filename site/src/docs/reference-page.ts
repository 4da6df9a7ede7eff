// The API reference at /docs/reference, rendered from the OpenAPI document: parameters, responses, code samples and a form that
// sends requests. The form accepts only public tokens; a private token must never be entered in a page.

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
import { sampleBlock } from './code-colours.ts';
import type { CodeSample } from './code-samples.ts';
import { type Documentation, docsPage, REFERENCE_PATH } from './docs-page.ts';
import { paragraphs, proseHtml } from './prose.ts';
import {
  bodySchema,
  type Definition,
  definitions,
  fieldList,
  itemSchema,
  typeWords,
} from './reference-schema.ts';

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
  const meta = { 'offerbook-token': guest?.token, 'offerbook-org': guest?.orgId };
  return docsPage({ path: REFERENCE_PATH, title: 'API reference', body, meta }, documentation, frame);
}

function anchor(id: string): Html {
  return html`<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
}

function introduction(document: ApiDocument, guest: GuestAccess | undefined): Html {
  const [about = '', ...others] = document.info.description.split('\n\n');
  return html`<section class="stack" id="start">
<h1>API reference</h1>
<p class="lead">${proseHtml(about)}</p>
${others.map(paragraphs)}
<p><a href="/docs/getting-started">Getting started</a> makes the first requests step by step; this page is the complete reference. Every list requires a token: <code>Authorization: Bearer …</code>. Public tokens (<code>ob_pub_</code>) read the catalogue, from servers and browsers. Private tokens (<code>ob_prv_</code>) read transactions, from servers only. The samples contain the public token of this page; set <code>OFFERBOOK_PRIVATE_TOKEN</code> to run those for transactions. <code>OFFERBOOK_ORG_ID</code> in the activation samples is the public id of your organisation.</p>
<p>This service hosts the client library that the TypeScript samples use. Install <a href="/client/offerbook-client.tgz">the package</a> with npm, or import <a href="/client/offerbook-client.js">the module</a> in browsers and Deno. <a href="/docs/client">The guide</a> has both commands.</p>
<div class="token stack">
<label for="token">Public token for this page</label>
<input id="token" type="text" placeholder="ob_pub_…" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="token-problem token-help">
<p id="token-problem" class="problem" role="alert"></p>
<p id="token-help" class="muted">${
    guest !== undefined
      ? 'This server has filled in a token, so the samples and forms below work right away.'
      : 'Used in the samples and requests below. It stays in this tab and is forgotten when you close it.'
  }</p>
</div>
</section>`;
}

function operationSection(document: ApiDocument, path: string, operation: ApiOperation): Html {
  const id = operation.operationId;
  const isPublic = operation.security.some((scheme) => 'publicToken' in scheme);
  return twoColumns({
    id,
    title: operation.summary,
    about: html`<p class="row"><span class="method">GET</span> <code>${path}</code> <span class="tag">${isPublic ? 'public token' : 'private token, servers only'}</span></p>
${paragraphs(operation.description)}`,
    example: html`${samples(id, operation['x-codeSamples'])}
${exampleBlock('Response', operation.responses[200]?.content)}`,
    details: html`<h3>Parameters</h3>
${operation.parameters.length === 0 ? html`<p>None.</p>` : parameterList(operation)}
${isPublic ? tryForm(path, operation) : html`<p class="muted">This operation has no form: a private token must not be used in a browser. Set <code>OFFERBOOK_PRIVATE_TOKEN</code> and run the sample instead.</p>`}
<h3>Response</h3>
${path.includes('{id}') ? itemDescription(document, path) : pageDescription(document, operation)}
${headerList(document, operation)}`,
  });
}

interface TwoColumns {
  readonly id: string;
  readonly title: string;
  readonly about: Html;
  /** Shown beside the text on wide screens, and between `about` and `details` on narrow ones. */
  readonly example: Html;
  readonly details: Html;
}

function twoColumns({ id, title, about, example, details }: TwoColumns): Html {
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="stack"><h2 id="${id}-title">${title} ${anchor(id)}</h2>
${about}</div>
<div class="example stack">${example}</div>
<div class="details stack">${details}</div>
</section>`;
}

function pageDescription(document: ApiDocument, operation: ApiOperation): Html {
  const { name, schema } = itemSchema(document, operation);
  return html`<p>A page: <code>data</code> is a list of the objects below; <code>cursor</code> is present if there are more pages.</p>
${fieldList(`Fields of ${name}`, schema, document.components.schemas ?? {})}`;
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
  const operations = all.flatMap(([path, { get, post }]): Definition[] => [
    { name: html`<span class="method">GET</span> <code>${path}</code>`, description: get.summary },
    ...(post === undefined
      ? []
      : [{ name: html`<span class="method">POST</span> <code>${path}</code>`, description: post.summary }]),
  ]);
  const both = [...get['x-codeSamples'], ...post['x-codeSamples']];
  return twoColumns({
    id: 'activation',
    title: tag.name,
    about: html`<p>${proseHtml(tag.description)}</p>
<p><strong>GET</strong>: ${proseHtml(get.description)}</p>
<p><strong>POST</strong>: ${proseHtml(post.description)}</p>`,
    example: html`${samples(
      'activation',
      both.map((sample, number) => ({ ...sample, label: number === 0 ? 'GET' : 'POST' })),
    )}
${exampleBlock('Response to POST', post.responses[200]?.content)}`,
    details: html`<h3>Operations</h3>
${definitions('Activation operations', operations)}
<h3>Parameters</h3>
${parameterList(get)}
${tryForm('/v1/cashback-offers/{id}/activate/', post, {
  method: 'POST',
  note: 'Returns a link without recording a click until you open the link. Leave id empty to use the first offer in the list.',
  values: { orgId: guest?.orgId ?? '', passbackUid: 'user-8842' },
})}`,
  });
}

function webhookSection(document: ApiDocument, type: string, webhook: ApiWebhook): Html {
  const { operationId: id, summary, description, parameters, requestBody, responses } = webhook;
  const statuses = Object.entries(responses).map(([name, response]) => {
    return { name, description: response.description };
  });
  return twoColumns({
    id,
    title: summary,
    about: html`<p class="row"><span class="method">POST</span> <code>${type}</code> <span class="tag">webhook, sent to your server</span></p>
${paragraphs(description)}
<p><a href="/docs/webhooks">The guide</a> has receivers in Node, Python, PHP and Go.</p>`,
    example: exampleBlock('Body', requestBody.content),
    details: html`<h3>Headers</h3>
${definitions(`Headers of ${id}`, parameters)}
<h3>Body</h3>
${fieldList(`Fields of ${type}`, bodySchema(document, webhook), document.components.schemas ?? {})}
<h3>Your response</h3>
${definitions(`Responses to ${id}`, statuses)}`,
  });
}

function exampleBlock(title: string, content: ApiWebhook['requestBody']['content'] | undefined): Html {
  const text = JSON.stringify(content?.['application/json']?.example, null, 2);
  return html`<div class="stack"><h3>${title}</h3>${sampleBlock('json', text)}</div>`;
}

function headerList(document: ApiDocument, { operationId, responses }: ApiOperation): Html {
  const names = Object.keys(responses[200]?.headers ?? {});
  const described = document.components.headers ?? {};
  const rows = names.map((name) => ({ name, description: described[name]?.description ?? '' }));
  return html`<details><summary>Headers: ${names.join(', ')}</summary>
${definitions(`Headers of ${operationId}`, rows)}</details>`;
}

/** The tabs are radio buttons, which work without a script. */
function samples(id: string, all: readonly CodeSample[]): Html {
  return html`<div class="samples row" role="radiogroup" aria-label="Language">
${all.map(
  ({ label, source }, number) =>
    html`<input class="unseen" type="radio" name="${id}-language" id="${id}-${label}" data-language="${label}"${number === 0 ? html` checked` : undefined}><label for="${id}-${label}">${label}</label>${sampleBlock(label, source)}\n`,
)}
</div>`;
}

function parameterList({ parameters, operationId }: ApiOperation): Html {
  const rows = parameters.map(({ name, description, schema }) => {
    return { name, description, type: typeWords(schema) };
  });
  return definitions(`Parameters of ${operationId}`, rows);
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
