// Renders descriptions from the OpenAPI document: code spans become <code>, and paths of guides become links.

import { type Html, html } from '../html.ts';

const PARTS = /(`[^`]+`|\/docs\/[\w-]+(?:#[\w-]+)?)/;

export function proseHtml(text: string): Html {
  return html`${text.split(PARTS).map((part, index) => (index % 2 === 0 ? html`${part}` : special(part)))}`;
}

/** Returns the text without Markdown. */
export function plainProse(text: string): string {
  return text.replaceAll('`', '');
}

function special(part: string): Html {
  return part.startsWith('`') ? html`<code>${part.slice(1, -1)}</code>` : html`<a href="${part}">${part}</a>`;
}
