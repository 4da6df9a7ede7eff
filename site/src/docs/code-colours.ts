// Blocks of coloured code in rendered pages.

import { codeParts } from '../code-parts.ts';
import { type Html, html } from '../html.ts';

export function colouredCode(code: string, language: string): Html {
  return html`${codeParts(code, language).map(({ kind, text }) => (kind === undefined ? html`${text}` : html`<span class="code-${kind}">${text}</span>`))}`;
}

/** The block in which a page shows code. A script adds a copy button. */
export function sampleBlock(language: string, code: string): Html {
  return html`<div class="sample"><pre tabindex="0"><code data-language="${language}">${colouredCode(code, language)}</code></pre></div>`;
}
