// Tables. Each cell repeats its column heading in data-label, so that the style sheet can show rows as lists on a phone.

import { type Html, html } from './html.ts';

export type Cell = Html | string | number;

/** Renders a table. The first cell of each row is the row's header. */
export function dataTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): Html {
  return html`<div class="scroll panel" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, column) => tableCell(cell, headings[column], column))}</tr>\n`)}</tbody></table></div>`;
}

function tableCell(cell: Cell, heading: string | undefined, column: number): Html {
  return column === 0
    ? html`<th scope="row">${cell}</th>`
    : html`<td data-label="${heading ?? ''}">${cell}</td>`;
}

/** Returns callbacks for Bun.markdown that render tables. The callbacks' arguments are already HTML. */
export function tableCells() {
  let headings: string[] = [];
  let column = 0;
  return {
    th: (inside: string) => {
      headings.push(inside.replace(/<[^>]*>/g, ''));
      // Screen readers would announce an empty <th> as a heading without a name.
      return inside === '' ? '<td></td>' : `<th scope="col">${inside}</th>`;
    },
    td: (inside: string) => {
      const heading = headings[column++] ?? '';
      return column === 1 ? `<th scope="row">${inside}</th>` : `<td data-label="${heading}">${inside}</td>`;
    },
    tr: (inside: string) => {
      column = 0;
      return `<tr>${inside}</tr>\n`;
    },
    thead: (inside: string) => `<thead>${inside}</thead>`,
    tbody: (inside: string) => `<tbody>${inside}</tbody>`,
    table: (inside: string) => {
      const label = headings.filter((heading) => heading !== '').join(', ');
      headings = [];
      return `<div class="scroll panel" tabindex="0" role="group" aria-label="${label}"><table>${inside}</table></div>\n`;
    },
  };
}
