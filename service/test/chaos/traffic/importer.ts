// Imports one file after another in a process of its own, records them in the ledger, and sometimes kills the process in the
// middle of an import.

import { join } from 'node:path';
import type { Random } from '@offerbook/sandbox/random.ts';
import { HOUR_MS } from '@offerbook/wire/time.ts';
import type { Ledger } from '../model/ledger.ts';
import { ORGANISATIONS } from '../model/world.ts';
import type { ImportOrder } from './import-order.ts';
import type { ImporterReport, Outcome } from './importer-process.ts';

const PROGRAM = join(import.meta.dir, 'importer-process.ts');
/** Far longer than an import takes, on any machine. */
const IMPORT_MAX_MS = 120_000;

/** Killed before it reported: the import may or may not be committed. */
type End = Outcome['end'] | 'killed';

export interface ImporterOptions {
  readonly databaseUrl: string;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Greatest number of rows for each organisation. */
  readonly rowsMax?: number;
  /** Greatest error of the importing processes' clocks. */
  readonly clockErrorMs?: number;
  /** Share of imports whose process is killed between the import's stamp and its commit. */
  readonly killShare: number;
  /** True if the database may be unreachable: a process may then end without having imported, or hang for this time. */
  readonly outageMaxMs?: number;
}

export function openImporter(options: ImporterOptions) {
  const { databaseUrl, ledger, random, killShare, outageMaxMs } = options;
  let running: Bun.Subprocess | undefined;
  let onReport: (report: ImporterReport) => void = () => {};

  function spawn(): Bun.Subprocess {
    return Bun.spawn([process.execPath, PROGRAM, databaseUrl], {
      stdio: ['ignore', 'ignore', outageMaxMs === undefined ? 'inherit' : 'ignore'],
      ipc: (report: ImporterReport) => onReport(report),
    });
  }

  function kill(): void {
    running?.kill('SIGKILL');
    running = undefined;
  }

  return {
    kill,
    /** Makes one import; returns its end. */
    async step(): Promise<End> {
      running ??= spawn();
      const child = running;
      const entries = chooseOrganisations(random).map((organisation) => ledger.open(organisation));
      const entryOf = (number: number) => entries.find((entry) => entry.number === number);
      const parts = entries.map(({ number, organisation }) => ({ number, organisation }));
      const order = planImport(parts, options);
      const killAfterMs = random.chance(killShare) ? random.whole(0, order.pauseMs + 30) : undefined;
      const reported = Promise.withResolvers<Outcome>();
      onReport = (report) => {
        if ('end' in report) reported.resolve(report);
        else if ('violation' in report) entries[0]?.violation(report.violation);
        else {
          entryOf(report.stamped)?.stamped(report.stampMs);
          if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
        }
      };
      const timer = setTimeout(() => child.kill('SIGKILL'), outageMaxMs ?? IMPORT_MAX_MS);
      child.send(order);
      const outcome = await Promise.race([reported.promise, child.exited.then(() => undefined)]);
      clearTimeout(timer);
      if (outageMaxMs === undefined) {
        if (outcome === undefined && killAfterMs === undefined)
          throw new Error(`import ${parts.map(({ number }) => number)} ended its process`);
        if (outcome?.end === 'unknown') throw new Error(outcome.reason);
      }
      if (outcome?.end === 'imported')
        for (const result of outcome.results) entryOf(result.number)?.acknowledge(result);
      if (outcome !== undefined && killAfterMs === undefined) return outcome.end;
      // The import may have ended before its kill. Then the process is killed between two imports.
      kill();
      return 'killed';
    },
  };
}

/** Most imports change one organisation; some contain sales of several, assigned by click. */
function chooseOrganisations(random: Random) {
  const count = random.chance(0.2) ? random.whole(2, ORGANISATIONS.length) : 1;
  return random.shuffled(ORGANISATIONS).slice(0, count);
}

/** All choices are likely to cause problems. */
function planImport(
  parts: ImportOrder['parts'],
  { random, rowsMax = 800, clockErrorMs = HOUR_MS }: ImporterOptions,
): ImportOrder {
  return {
    parts,
    // Most files are small; some are larger than a batch, so that rows are written before the end of the file is read.
    rows: Math.min(
      rowsMax,
      random.chance(0.1) ? random.whole(500, 800) : Math.round(random.logBetween(1, 100)),
    ),
    ending: random.pick(['good', 'good', 'good', 'good', 'good', 'good', 'bad row', 'foreign id'] as const),
    clockOffsetMs: random.whole(-clockErrorMs, clockErrorMs),
    pauseMs: random.chance(0.3) ? Math.round(random.logBetween(5, 500)) : 0,
    seed: random.whole(0, 2 ** 31),
  };
}
