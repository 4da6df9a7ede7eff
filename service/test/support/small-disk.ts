// A small file system that a test can fill. Only root can mount it.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { $ } from 'bun';
import { temporaryFolder } from './databases.ts';

export class SmallDisk implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async mount(megabytes: number): Promise<SmallDisk> {
    const folder = temporaryFolder();
    await $`mount -t tmpfs -o size=${megabytes}m none ${folder}`.quiet();
    return new SmallDisk(folder);
  }

  static async canMount(): Promise<boolean> {
    if (process.getuid?.() !== 0) return false;
    try {
      await using _ = await SmallDisk.mount(1);
      return true;
    } catch {
      return false;
    }
  }

  /** Fills the disk completely. Returns a function that frees the space. */
  fill(): () => void {
    const path = join(this.folder, 'filling');
    const piece = Buffer.alloc(4_096);
    try {
      while (true) writeFileSync(path, piece, { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
    return () => rmSync(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await $`umount ${this.folder}`;
  }
}
