// The TypeScript examples in the client's README, so that tests can compile and run them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns each example with the heading of its section. */
export function readmeExamples() {
  const readme = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8');
  return readme.split(/^## /m).flatMap((section) =>
    [...section.matchAll(/```ts\n(.*?)```/gs)].map(([, source = '']) => ({
      title: section.split('\n')[0] ?? '',
      source,
    })),
  );
}
