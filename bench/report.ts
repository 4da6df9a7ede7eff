// Writes the results of `npm run bench` to the documentation.

import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';

const DOCS = join(import.meta.dir, '..', 'docs');
const BEGIN = '<!-- written by npm run bench: begin -->';
const END = '<!-- written by npm run bench: end -->';

/** Absolute figures are valid only on the machine of a run; ratios are comparable. */
export function describeMachine(): string {
  const [cpu] = cpus();
  return (
    `${cpus().length} cores of ${cpu?.model ?? 'an unknown processor'} (${arch()}), ` +
    `${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}, Bun ${Bun.version}.`
  );
}

/** Replaces the text between two markers in docs/performance.md. */
export function writeReport(markdown: string): void {
  const path = join(DOCS, 'performance.md');
  const [before, rest] = readFileSync(path, 'utf8').split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${path} has no markers`);
  writeFileSync(path, `${before}${BEGIN}\n\n${markdown}\n\n${END}${after}`);
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly label: string;
  /** True for Offerbook's bars, which are highlighted. */
  readonly isOurs: boolean;
}

const WIDTH = 860;
const NAME_WIDTH = 260;
const LABEL_WIDTH = 90;
const BAR_HEIGHT = 22;
const TOP = 34;

/** Draws horizontal bars on a logarithmic axis, as an SVG that is readable on light and dark pages. */
export function writeBarChart(image: string, title: string, bars: readonly Bar[]): void {
  const values = bars.map(({ value }) => value);
  // Start below the smallest value, so that its bar is visible.
  const low = Math.log10(Math.min(...values) / 3);
  const scale = (WIDTH - NAME_WIDTH - LABEL_WIDTH) / (Math.log10(Math.max(...values)) - low);
  const drawn = bars.map(({ name, value, label, isOurs }, index) => {
    const y = TOP + index * BAR_HEIGHT;
    const width = ((Math.log10(value) - low) * scale).toFixed(1);
    return (
      `<text x="${NAME_WIDTH - 8}" y="${y + 14}" text-anchor="end">${name}</text>` +
      `<rect x="${NAME_WIDTH}" y="${y + 3}" width="${width}" height="${BAR_HEIGHT - 7}" fill="${isOurs ? '#3b82f6' : '#9994'}"/>` +
      `<text x="${NAME_WIDTH + Number(width) + 6}" y="${y + 14}">${label}</text>`
    );
  });
  const height = TOP + bars.length * BAR_HEIGHT + 10;
  writeFileSync(
    join(DOCS, 'images', image),
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#888"><title>${title}</title><text x="8" y="16" font-weight="bold">${title}</text>${drawn.join('')}</svg>\n`,
  );
}
