// Runs a scenario once, and prints its report.

import type { Scenario } from '../scenario.ts';
import { Run, type RunSettings } from './run.ts';

export type Report = Pick<Run, 'counts' | 'rows' | 'violations'>;

/** An error that ends the scenario counts as a violation. */
export async function play(scenario: Scenario, settings: RunSettings): Promise<Report> {
  const run = new Run(settings, scenario.options);
  const stop = () => void run.disposeAsync().finally(() => process.exit(130));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const notCompleted = (error: unknown) =>
    run.violation('NOT COMPLETED', error instanceof Error ? printError(error) : String(error));
  try {
    await scenario.run(run);
    for (const what of scenario.mustHappen ?? [])
      run.require(`${what} must not be 0`, (run.counts[what] ?? 0) > 0);
  } catch (error) {
    notCompleted(error);
  } finally {
    // Closing things can also report violations.
    await run.disposeAsync().catch(notCompleted);
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
  return run;
}

/** fast-check's errors have the failure as their cause. */
function printError({ stack, message, cause }: Error): string {
  return cause === undefined ? (stack ?? message) : `${cause}\n${stack}`;
}

/** Counts, then the table, then the violations. */
export function printReport({ counts, rows, violations }: Report): string {
  const width = Math.max(0, ...Object.keys(counts).map((what) => what.length));
  return [
    ...Object.entries(counts).map(([what, count]) => `  ${what.padEnd(width)} ${count}`),
    ...(rows.length === 0 ? [] : [Bun.inspect.table([...rows], Object.keys(rows[0] ?? {}))]),
    ...violations.map((violation) => `  ${violation}`),
    violations.length === 0 ? '  no violation' : `  ${violations.length} violations`,
  ].join('\n');
}
