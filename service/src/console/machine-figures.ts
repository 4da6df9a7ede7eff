// Measures the memory of this node and the disk that stores its data.

import { statfsSync } from 'node:fs';
import type { MachineFigures } from '@offerbook/site/console/node-figures.ts';

export function machineFigures(folder: string): MachineFigures {
  return { memoryBytes: process.memoryUsage.rss(), disk: diskOf(folder) };
}

function diskOf(folder: string): MachineFigures['disk'] {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch {
    return undefined;
  }
}
