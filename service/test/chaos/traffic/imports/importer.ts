// Controls an importing process: sends it orders, and kills it if planned.

import { join } from 'node:path';
import type { ImportOrder, ImportResult } from './import-order.ts';
import type { ImporterReport } from './importer-process.ts';
import { readJsonLines } from './json-lines.ts';

const PROGRAM = join(import.meta.dir, 'importer-process.ts');

export type Outcome =
  | { readonly end: 'imported'; readonly results: readonly ImportResult[] }
  | { readonly end: 'refused'; readonly reason: string }
  /** The database became unreachable, so the import may or may not be committed. */
  | { readonly end: 'unknown'; readonly reason: string }
  /** Killed before it reported, so the import may or may not be committed. */
  | { readonly end: 'killed' };

export interface OrderOptions {
  /** Time from the import's stamp to its kill; undefined for no kill. */
  readonly killAfterMs?: number | undefined;
  readonly onStamped: (number: number, stampMs: number) => void;
  readonly onViolation: (what: string) => void;
}

export class Importer {
  readonly #child: ReturnType<typeof spawn>;
  readonly #reports: AsyncGenerator<ImporterReport>;
  #killed = false;

  /** With `ignore`, an error that ends the process is not printed. */
  constructor(databaseUrl: string, stderr: 'inherit' | 'ignore' = 'inherit') {
    this.#child = spawn(databaseUrl, stderr);
    this.#reports = readJsonLines<ImporterReport>(this.#child.stdout);
  }

  async carryOut(order: ImportOrder, options: OrderOptions): Promise<Outcome> {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
    await this.#child.stdin.flush();
    while (true) {
      const { value, done } = await this.#reports.next();
      if (done) {
        if (!this.#killed) {
          throw new Error(`import ${order.parts.map(({ number }) => number)} ended its process`);
        }
        return { end: 'killed' };
      }
      if (value.event === 'violation') options.onViolation(value.what);
      else if (value.event === 'stamped') {
        options.onStamped(value.number, value.stampMs);
        if (options.killAfterMs !== undefined) setTimeout(() => this.kill(), options.killAfterMs);
      } else if (value.event === 'imported') {
        return { end: 'imported', results: value.results };
      } else return { end: value.event, reason: value.reason };
    }
  }

  kill(): void {
    this.#killed = true;
    this.#child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#child.exited;
  }
}

function spawn(databaseUrl: string, stderr: 'inherit' | 'ignore') {
  return Bun.spawn([process.execPath, PROGRAM, databaseUrl], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr,
  });
}
