// Renders Markdown documents as HTML with an anchor at every heading, and as plain text for the search. HTML in a document
// is shown as text.

import { tableCells } from '../../data-table.ts';
import { Html, html } from '../../html.ts';
import { sampleBlock } from '../code-colours.ts';

/** A heading and the text under it. */
interface Section {
  /** Id of the anchor; empty before the first heading. */
  readonly id: string;
  readonly level: number;
  readonly heading: string;
  readonly text: string;
}

export type RenderedDocument = ReturnType<typeof renderMarkdown>;

/** Resolves a link's target. If the function returns undefined, only the link's text is rendered. */
type ResolveLink = (target: string) => string | undefined;

const OPTIONS = { headings: { ids: true }, noHtmlBlocks: true, noHtmlSpans: true };

export function renderMarkdown(source: string, resolveLink: ResolveLink) {
  const sections = readSections(source);
  const body = Bun.markdown.render(source, callbacks(resolveLink), OPTIONS);
  return { title: sections.find(({ level }) => level === 1)?.heading ?? '', body: new Html(body), sections };
}

/** The callbacks' arguments are already HTML, because `text` escapes every string. */
function callbacks(resolveLink: ResolveLink) {
  const cells = tableCells();
  return {
    text: (text: string) => Bun.escapeHTML(text),
    heading: (inside: string, { level, id = '' }: { level: number; id?: string }) =>
      heading(inside, level, id),
    paragraph: (inside: string) => (inside === '' ? '' : `<p>${inside}</p>\n`),
    blockquote: (inside: string) => `<blockquote>${inside}</blockquote>\n`,
    code: (inside: string, meta?: { language?: string }) => codeBlock(inside, meta?.language),
    codespan: (inside: string) => `<code>${inside}</code>`,
    strong: (inside: string) => `<strong>${inside}</strong>`,
    emphasis: (inside: string) => `<em>${inside}</em>`,
    list: (inside: string, { ordered }: { ordered: boolean }) =>
      ordered ? `<ol>${inside}</ol>\n` : `<ul>${inside}</ul>\n`,
    listItem: (inside: string) => `<li>${inside}</li>`,
    link: (inside: string, { href }: { href: string }) => link(inside, resolveLink(href)),
    // Leave out images: they are screenshots, which this server does not serve.
    image: () => '',
    hr: () => '<hr>\n',
    ...cells,
  };
}

function heading(inside: string, level: number, id: string): string {
  if (level === 1) return `<h1>${inside}</h1>\n`;
  return `<h${level} id="${id}">${inside} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${level}>\n`;
}

function codeBlock(inside: string, language = 'text'): string {
  if (language === 'mermaid') return sequenceSteps(inside).text;
  return `${sampleBlock(language, unescapeHtml(inside)).text}\n`;
}

/** Renders a Mermaid sequence diagram as a list of its steps, which works with screen readers. */
function sequenceSteps(escaped: string): Html {
  const lines = escaped.split('\n').map((line) => line.trim());
  const names = new Map(
    lines.flatMap((line) => {
      const [, short, name] = /^participant (\w+) as (.+)$/.exec(line) ?? [];
      return short === undefined || name === undefined ? [] : [[short, name] as const];
    }),
  );
  const nameOf = (short: string) => new Html(names.get(short) ?? short);
  const steps = lines.flatMap((line) => {
    const [, from = '', to = '', words] = /^(\w+)--?&gt;&gt;(\w+): (.+)$/.exec(line) ?? [];
    if (words !== undefined)
      return [html`<li><strong>${nameOf(from)} → ${nameOf(to)}</strong>: ${new Html(words)}</li>`];
    const [, over = '', note] = /^Note over (\w+): (.+)$/.exec(line) ?? [];
    return note === undefined ? [] : [html`<li class="muted">${nameOf(over)}: ${new Html(note)}</li>`];
  });
  return html`<ol class="steps panel stack">${steps}</ol>`;
}

/** Reverses Bun.escapeHTML. */
function unescapeHtml(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };
  return text.replace(/&(amp|lt|gt|quot|#x27);/g, (entity, name: string) => characters[name] ?? entity);
}

function link(inside: string, target: string | undefined): string {
  if (target === undefined) return inside;
  return `${html`<a href="${target}">`.text}${inside}</a>`;
}

const MARK = '\u0001';
const END = '\u0002';

/** Splits a document into sections of plain text at its headings. Leaves out code, which makes poor excerpts. */
function readSections(source: string): Section[] {
  const spaced = (inside: string) => `${inside} `;
  const text = Bun.markdown.render(
    source,
    {
      heading: (inside, { level, id = '' }) => `${MARK}${level} ${id}${END}${inside}${END}`,
      paragraph: spaced,
      listItem: spaced,
      th: spaced,
      td: spaced,
      code: () => '',
      image: () => '',
    },
    OPTIONS,
  );
  return text
    .split(MARK)
    .slice(1)
    .map((part) => {
      const [place = '', title = '', rest = ''] = part.split(END);
      const [level = '1', id = ''] = place.split(' ');
      return { id, level: Number(level), heading: title.trim(), text: rest.replace(/\s+/g, ' ').trim() };
    });
}
