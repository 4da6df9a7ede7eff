// Tables. Each cell carries the heading of its column, so that on a phone, where there is no room for columns, a row can be
// shown as a list.

import { type Html, html } from './html.ts';

type Cell = Html | string | number;

/** The first cell of a row names the row. */
export function dataTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, column) => tableCell(cell, headings[column], column))}</tr>\n`)}</tbody></table></div>`;
}

function tableCell(cell: Cell, heading: string | undefined, column: number): Html {
  return column === 0
    ? html`<th scope="row">${cell}</th>`
    : html`<td data-label="${heading ?? ''}">${cell}</td>`;
}

/** Makes the same of a table that comes cell by cell, the innermost first, each as HTML already. */
export function tableCells() {
  let headings: string[] = [];
  let column = 0;
  return {
    th: (inside: string) => {
      headings.push(inside.replace(/<[^>]*>/g, ''));
      // A column without a heading: an empty heading is none.
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
      return `<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>${inside}</table></div>\n`;
    },
  };
}
