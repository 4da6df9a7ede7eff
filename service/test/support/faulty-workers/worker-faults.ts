// A server process whose workers fail on request of a test.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerTimings } from '../../../src/cli/node/workers/worker-pool.ts';
import { type RunOptions, ServerProcess } from '../command.ts';

export type WorkerFault = 'crash' | 'loop' | 'block' | 'stillborn';

export class WorkerFaults implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'offerbook-faults-'));

  start(
    args: readonly string[],
    options: RunOptions = {},
    timings: Partial<WorkerTimings> = {},
  ): Promise<ServerProcess> {
    const script = join(import.meta.dir, 'faulty-node.ts');
    return ServerProcess.start(args, {
      ...options,
      command: [process.execPath, script, JSON.stringify(timings)],
      env: { ...options.env, FAULTS_FOLDER: this.#folder },
    });
  }

  /** Triggers a fault. `stillborn` keeps the worker from starting from now on; other faults happen once, immediately. */
  letHappen(fault: WorkerFault, worker: number): void {
    writeFileSync(this.#fileOf(fault, worker), '');
  }

  /** True if the fault has not happened yet. */
  isDue(fault: WorkerFault, worker: number): boolean {
    return existsSync(this.#fileOf(fault, worker));
  }

  revive(worker: number): void {
    rmSync(this.#fileOf('stillborn', worker));
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #fileOf(fault: WorkerFault, worker: number): string {
    return join(this.#folder, `${fault}-${worker}`);
  }
}
