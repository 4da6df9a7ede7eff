// Writes the result of a run into docs/performance.md, between two markers.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCUMENT = join(import.meta.dir, '..', 'docs', 'performance.md');
const BEGIN = '<!-- written by npm run bench: begin -->';
const END = '<!-- written by npm run bench: end -->';

export function writeReport(markdown: string): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${DOCUMENT} has no markers`);
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${markdown}\n\n${END}${after}`);
}
