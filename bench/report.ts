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
