// Files that survive a power cut: written, synced, and checked by their SHA-256.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

export interface FileSum {
  readonly bytes: number;
  readonly sha256: string;
}

/** Waits until a file, or the names in a folder, are on the disk. */
export function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export async function sumOf(path: string): Promise<FileSum> {
  return passOn(path, () => {});
}

/** Copies a file for nobody else to read, and returns the sum of what was written. */
export async function copySynced(from: string, to: string): Promise<FileSum> {
  const file = openSync(to, 'wx', 0o600);
  try {
    const sum = await passOn(from, (chunk) => {
      for (let done = 0; done < chunk.length; ) done += writeSync(file, chunk, done);
    });
    fsyncSync(file);
    return sum;
  } finally {
    closeSync(file);
  }
}

async function passOn(from: string, take: (chunk: Uint8Array) => void): Promise<FileSum> {
  const hash = new Bun.CryptoHasher('sha256');
  let bytes = 0;
  for await (const chunk of Bun.file(from).stream()) {
    hash.update(chunk);
    take(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
