// The project's Markdown documents, and the code in them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dir, '..', '..', '..');

/** The paths of all files in the repository. */
export const FILES: readonly string[] = filesIn('.');

export const DOCUMENTS: readonly string[] = FILES.filter((path) => path.endsWith('.md')).sort();

function filesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  const kept = entries.filter(({ name }) => !['node_modules', 'dist', '.git'].includes(name));
  return kept.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : path;
  });
}

export function readDocument(document: string): string {
  return readFileSync(join(ROOT, document), 'utf8');
}

export interface Block {
  readonly language: string;
  /** The word after the language, which names the test that runs the block. */
  readonly kind: string;
  readonly code: string;
}

const BLOCK = /^ *```(\w+) ?(\w*)\n(.*?)^ *```$/gms;

/** The fenced code blocks of a document. */
export function blocksOf(document: string): Block[] {
  return [...readDocument(document).matchAll(BLOCK)].map(([, language = '', kind = '', code = '']) => ({
    language,
    kind,
    code,
  }));
}

/** The text of a document without its fenced code blocks. */
export function proseOf(document: string): string {
  return readDocument(document).replace(BLOCK, '');
}

/** The words in backticks. */
export function spansOf(document: string): string[] {
  return [...proseOf(document).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** The cells of a table's rows, without the row of headings, which begins with `heading`. */
export function tableOf(document: string, heading: string): string[][] {
  const [, rows = ''] = readDocument(document).split(
    new RegExp(`^\\| ${heading} \\|.*\\n\\|[-| ]+\\|\\n`, 'm'),
    2,
  );
  const [table = ''] = rows.split(/\n(?!\|)/, 1);
  return table.split('\n').map((row) => row.slice(2, -2).split(/ ?(?<!\\)\| ?/));
}
