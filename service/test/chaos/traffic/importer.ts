// Imports one file after another in a process of its own, records them in the ledger, and sometimes kills the process in the
// middle of an import.

import { join } from 'node:path';
import type { Random } from '@offerbook/sandbox/random.ts';
import type { Ledger } from '../model/ledger.ts';
import { ORGANISATIONS } from '../model/world.ts';
import type { ImportOrder, ImportResult } from './import-order.ts';
import type { ImporterReport } from './importer-process.ts';
import { readJsonLines } from './json-lines.ts';

const PROGRAM = join(import.meta.dir, 'importer-process.ts');
const HOUR_MS = 3_600_000;

export type Outcome =
  | { readonly end: 'imported'; readonly results: readonly ImportResult[] }
  | { readonly end: 'refused'; readonly reason: string }
  /** The database became unreachable, so the import may or may not be committed. */
  | { readonly end: 'unknown'; readonly reason: string }
  /** Killed before it reported, so the import may or may not be committed. */
  | { readonly end: 'killed' };

export interface ImporterOptions {
  readonly databaseUrl: string;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Changes planned imports. */
  readonly adjust?: (order: ImportOrder) => ImportOrder;
  /** Share of imports whose process is killed between the import's stamp and its commit. */
  readonly killShare?: number;
  readonly importsPerProcess?: number;
  /** True if the database may be unreachable: a process may then end without having imported, or hang for this time. */
  readonly outageMaxMs?: number;
}

export class Importer {
  readonly #options: ImporterOptions;
  #process: ImporterProcess | undefined;
  #count = 0;

  constructor(options: ImporterOptions) {
    this.#options = options;
  }

  /** Makes one import; returns its end. */
  async step(): Promise<Outcome['end']> {
    const {
      databaseUrl,
      ledger,
      random,
      killShare = 0,
      outageMaxMs,
      adjust = (order) => order,
    } = this.#options;
    const { importsPerProcess = Number.POSITIVE_INFINITY } = this.#options;
    const importing = this.#process ?? new ImporterProcess(databaseUrl, outageMaxMs === undefined);
    this.#process = importing;
    const entries = chooseOrganisations(random).map((organisation) => ledger.open(organisation));
    const entryOf = (number: number) => entries.find((entry) => entry.number === number);
    const parts = entries.map(({ number, organisation }) => ({ number, organisation }));
    const order = adjust(planImport(parts, random));
    const killAfterMs = random.chance(killShare) ? random.whole(0, order.pauseMs + 30) : undefined;
    const timer = outageMaxMs === undefined ? undefined : setTimeout(() => importing.kill(), outageMaxMs);
    let outcome: Outcome;
    try {
      outcome = await importing.carryOut(order, {
        killAfterMs,
        onStamped: (number, stampMs) => entryOf(number)?.stamped(stampMs),
        onViolation: (what) => entries[0]?.violation(what),
      });
    } catch (error) {
      if (outageMaxMs === undefined) throw error;
      // The process ended because it did not find a primary when it started.
      outcome = { end: 'killed' };
    } finally {
      clearTimeout(timer);
    }
    if (outcome.end === 'imported')
      for (const result of outcome.results) entryOf(result.number)?.acknowledge(result);
    if (outcome.end === 'unknown' && outageMaxMs === undefined) throw new Error(outcome.reason);
    this.#count += 1;
    // The import may have ended before its kill. Then kill the process now, between two imports.
    const isSpent =
      outcome.end === 'killed' || killAfterMs !== undefined || this.#count % importsPerProcess === 0;
    if (isSpent) this.kill();
    return killAfterMs === undefined ? outcome.end : 'killed';
  }

  kill(): void {
    this.#process?.kill();
    this.#process = undefined;
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }
}

/** Most imports change one organisation; some contain sales of several, assigned by click. */
function chooseOrganisations(random: Random) {
  const count = random.chance(0.2) ? random.whole(2, ORGANISATIONS.length) : 1;
  return random.shuffled(ORGANISATIONS).slice(0, count);
}

/** All choices are likely to cause problems. */
function planImport(parts: ImportOrder['parts'], random: Random): ImportOrder {
  return {
    parts,
    // Most files are small; some are larger than a batch, so that rows are written before the end of the file is read.
    rows: random.chance(0.1) ? random.whole(500, 800) : Math.round(random.logBetween(1, 100)),
    ending: random.pick(['good', 'good', 'good', 'good', 'good', 'good', 'bad row', 'foreign id'] as const),
    clockOffsetMs: random.whole(-HOUR_MS, HOUR_MS),
    pauseMs: random.chance(0.3) ? Math.round(random.logBetween(5, 500)) : 0,
    seed: random.whole(0, 2 ** 31),
  };
}

interface OrderOptions {
  /** Time from the import's stamp to its kill; undefined for no kill. */
  readonly killAfterMs: number | undefined;
  readonly onStamped: (number: number, stampMs: number) => void;
  readonly onViolation: (what: string) => void;
}

class ImporterProcess {
  readonly #child: ReturnType<typeof spawn>;
  readonly #reports: AsyncGenerator<ImporterReport>;
  #killed = false;

  constructor(databaseUrl: string, printsErrors: boolean) {
    this.#child = spawn(databaseUrl, printsErrors ? 'inherit' : 'ignore');
    this.#reports = readJsonLines<ImporterReport>(this.#child.stdout);
  }

  async carryOut(order: ImportOrder, options: OrderOptions): Promise<Outcome> {
    this.#child.stdin.write(`${JSON.stringify(order)}\n`);
    await this.#child.stdin.flush();
    while (true) {
      const { value, done } = await this.#reports.next();
      if (done) {
        if (this.#killed) return { end: 'killed' };
        throw new Error(`import ${order.parts.map(({ number }) => number)} ended its process`);
      }
      if (value.event === 'violation') options.onViolation(value.what);
      else if (value.event === 'stamped') {
        options.onStamped(value.number, value.stampMs);
        if (options.killAfterMs !== undefined) setTimeout(() => this.kill(), options.killAfterMs);
      } else if (value.event === 'imported') return { end: 'imported', results: value.results };
      else return { end: value.event, reason: value.reason };
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
  return Bun.spawn([process.execPath, PROGRAM, databaseUrl], { stdin: 'pipe', stdout: 'pipe', stderr });
}
