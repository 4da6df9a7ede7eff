// Renders descriptions from the OpenAPI document: code spans become <code>, paths of guides become links, and empty lines
// separate paragraphs.

import { type Html, html } from '../html.ts';

const PARTS = /(`[^`]+`|\/docs\/[\w-]+(?:#[\w-]+)?)/;

export function proseHtml(text: string): Html {
  return html`${text.split(PARTS).map((part, index) => (index % 2 === 0 ? html`${part}` : special(part)))}`;
}

/** Renders a description whose paragraphs are separated by empty lines. */
export function paragraphs(text: string): Html {
  return html`${text.split('\n\n').map((paragraph) => html`<p>${proseHtml(paragraph)}</p>`)}`;
}

/** Returns the text without Markdown, on one line. */
export function plainProse(text: string): string {
  return text.replaceAll('`', '').replaceAll('\n\n', ' ');
}

function special(part: string): Html {
  return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`<a href="${part}">${part}</a>`;
}
