// The TypeScript of the client's README, so that it is compiled and run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Example {
  /** The heading that it stands under. */
  readonly title: string;
  readonly source: string;
}

export function readmeExamples(): Example[] {
  const readme = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8');
  return readme.split(/^## /m).flatMap((section) =>
    [...section.matchAll(/```ts\n(.*?)```/gs)].map(([, source = '']) => ({
      title: section.split('\n')[0] ?? '',
      source,
    })),
  );
}
