// Tables. Cells repeat their column heading in data-label, so that the style sheet can show rows as lists on a phone.

import { Html, html } from './html.ts';

export type Cell = Html | string | number;

/** Renders a table. The first cell of each row is the row's header. */
export function dataTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): Html {
  const align = headings.map((_, column) => {
    const isNumeric = column > 0 && rows.some((cells) => isNumber(cells[column]));
    return isNumeric ? html` class="number"` : undefined;
  });
  return html`<div class="scroll panel" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${headings.map((heading, column) => html`<th scope="col"${align[column]}>${heading}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell, column) => (column === 0 ? rowHeader(cell, headings[0]) : html`<td${align[column]} data-label="${headings[column] ?? ''}">${cell}</td>`))}</tr>\n`)}</tbody></table></div>`;
}

/** Names and ids need no label, but numbers and times do. */
function rowHeader(cell: Cell, heading = ''): Html {
  const needsLabel = isNumber(cell) || (cell instanceof Html && cell.text.startsWith('<time'));
  return html`<th scope="row"${needsLabel ? html` data-label="${heading}"` : undefined}>${cell}</th>`;
}

/** True for a cell that contains only a number, with or without a currency or a link. */
function isNumber(cell: Cell | undefined): boolean {
  if (!(cell instanceof Html)) return typeof cell === 'number';
  return /^(?:<a [^>]*>)?<data [^>]*>[^<]*<\/data>(?: [A-Z]{3})?(?:<\/a>)?$/.test(cell.text);
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
