// Checks that enough file handles are free to start a thread. If there are too few, Bun 1.4 exits the whole process when the
// thread starts.

import { closeSync, openSync } from 'node:fs';

const FILES_FOR_THREAD = 16;

export function canStartThread(): boolean {
  const files: number[] = [];
  try {
    while (files.length < FILES_FOR_THREAD) files.push(openSync('/dev/null', 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const file of files) closeSync(file);
  }
}
