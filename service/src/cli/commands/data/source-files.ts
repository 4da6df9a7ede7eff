// Reads source files and their overlays.

import { dirname, isAbsolute, join } from 'node:path';
import { type Overlay, parseOverlay } from '@offerbook/feeds/source/overlay.ts';
import { parseSource, type Source } from '@offerbook/feeds/source/source-file.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { openSource } from '@offerbook/wire/rows/import-source.ts';

export async function readSourceFile(path: string) {
  const source = parseSource(await readText(path), path);
  return { source, overlay: await readOverlay(source, path) };
}

/** Resolves a relative path against the source file's folder. */
async function readOverlay(source: Source, sourcePath: string): Promise<Overlay> {
  if (source.overlay === undefined) return new Map();
  const path = isAbsolute(source.overlay) ? source.overlay : join(dirname(sourcePath), source.overlay);
  return parseOverlay(await readText(path), path, source);
}

/**
 * Drops a byte order mark. Throws if the file is not UTF-8, because characters in a different encoding would be published
 * garbled.
 */
async function readText(path: string): Promise<string> {
  const chunks = await Array.fromAsync((await openSource(path)).chunks());
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new BadInput(`${path} is not UTF-8`, { cause: error });
  }
}
