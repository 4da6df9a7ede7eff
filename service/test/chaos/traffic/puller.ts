// Starts processes that pull, and waits for their imports.

import { join } from 'node:path';
import type { Stores } from '../../../src/domain/stores.ts';
import type { Run } from '../report/run.ts';
import type { PullOrder } from './puller-process.ts';

const PROGRAM = join(import.meta.dir, 'puller-process.ts');
const IMPORT_WAIT_MAX_MS = 15_000;

/** Starts a process, which ends with the run at the latest. */
export function startPuller(run: Run, order: PullOrder) {
  const child = Bun.spawn([process.execPath, PROGRAM, JSON.stringify(order)], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  });
  run.defer(() => child.kill('SIGKILL'));
  return child;
}

/** Waits until an import begins or ends, at most a few seconds. What is not in its transaction is written around these times. */
export async function nextImport({ imports }: Stores, isEnd: boolean): Promise<void> {
  const last = async () => (await imports.list({ limit: 1 }))[0];
  const before = (await last())?.id ?? 0;
  for (let waited = 0; waited < IMPORT_WAIT_MAX_MS; waited++) {
    const entry = await last();
    if (entry !== undefined && entry.id > before && (!isEnd || entry.endedAtMs !== null)) return;
    await Bun.sleep(1);
  }
}
