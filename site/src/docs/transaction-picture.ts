// A picture of a transaction's life, from the click to the payment. It is drawn twice, in a row for wide windows and in a
// column for phones, because text in a scaled picture would be too small; the style sheet shows one of the two.

import { type Html, html } from '../html.ts';

interface Stage {
  readonly title: string;
  readonly lines: readonly [string, string];
  /** Class of the box. */
  readonly kind: string;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

const STAGES: readonly Stage[] = [
  { title: 'Click', lines: ['Your user', 'activates a deal'], kind: '' },
  { title: 'Purchase', lines: ['The user buys', 'at the shop'], kind: '' },
  { title: 'Report', lines: ['The network', 'reports the sale'], kind: '' },
  { title: 'PENDING', lines: ['Show the expected', 'cashback'], kind: 'pending' },
  { title: 'CONFIRMED', lines: ['Pay the cashback', ''], kind: 'confirmed' },
  { title: 'DECLINED', lines: ['Pay nothing', ''], kind: 'declined' },
];

const HEIGHT = 84;
const DESCRIPTION =
  'Your user activates a deal and buys at the shop. The affiliate network reports the sale, and your next poll returns it as PENDING. Later it becomes CONFIRMED, and you pay the cashback, or DECLINED, and you pay nothing.';

export function transactionPicture(): Html {
  return html`<figure class="picture stack">${wide()}${tall()}<figcaption class="muted">${DESCRIPTION}</figcaption></figure>`;
}

function wide(): Html {
  const width = 164;
  const step = 194;
  const row = (column: number) => ({ x: 1 + column * step, y: 64, width });
  const last = { x: 1 + 4 * step, width: 148 };
  const boxes = [row(0), row(1), row(2), row(3), { ...last, y: 1 }, { ...last, y: 127 }];
  const middle = 64 + HEIGHT / 2;
  const arrows = [0, 1, 2].map((column) => {
    const x = 1 + column * step + width;
    return `M${x + 4} ${middle}H${x + 25}`;
  });
  const from = 1 + 3 * step + width + 4;
  return drawing('wide-picture', [926, 212], boxes, [
    ...arrows,
    `M${from} ${middle - 8}L${last.x - 6} ${1 + HEIGHT / 2}`,
    `M${from} ${middle + 8}L${last.x - 6} ${127 + HEIGHT / 2}`,
  ]);
}

function tall(): Html {
  const width = 348;
  const step = HEIGHT + 30;
  const column = (row: number) => ({ x: 1, y: 1 + row * step, width });
  const y = 1 + 4 * step;
  const boxes = [
    column(0),
    column(1),
    column(2),
    column(3),
    { x: 1, y, width: 166 },
    { x: 183, y, width: 166 },
  ];
  const arrows = [0, 1, 2].map((row) => `M175 ${1 + row * step + HEIGHT + 4}V${1 + (row + 1) * step - 5}`);
  return drawing('tall-picture', [350, y + HEIGHT + 1], boxes, [
    ...arrows,
    `M84 ${y - 26}V${y - 5}`,
    `M266 ${y - 26}V${y - 5}`,
  ]);
}

function drawing(
  name: string,
  [width, height]: readonly [number, number],
  boxes: readonly Box[],
  arrows: readonly string[],
): Html {
  return html`<svg class="${name}" viewBox="0 0 ${width} ${height}" aria-hidden="true">
<defs><marker id="${name}-tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>
${arrows.map((path) => html`<path class="arrow" d="${path}" marker-end="url(#${name}-tip)"/>`)}
${boxes.map((box, index) => stage(box, STAGES[index]))}
</svg>`;
}

function stage({ x, y, width }: Box, about: Stage | undefined): Html | undefined {
  if (about === undefined) return undefined;
  return html`<g class="stage ${about.kind}"><rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="12"/>
<text class="stage-title" x="${x + 14}" y="${y + 27}">${about.title}</text>
${about.lines.map((line, index) => html`<text x="${x + 14}" y="${y + 49 + index * 19}">${line}</text>`)}</g>`;
}
