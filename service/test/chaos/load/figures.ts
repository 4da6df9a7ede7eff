// What the parts of the load scenario share: their figures in the report, and the limits that hold only on an idle machine.

import { until } from '../../support/until.ts';
import type { LoadedService, Seeded } from '../cluster/loaded-service.ts';
import type { Run } from '../report/run.ts';
import { Tally } from '../traffic/tally.ts';

export const MEMORY_MAX_MB = 500;
const LIVEZ_INTERVAL_MS = 50;
const RECOVERY_REQUESTS = 50;

/** Adds the figures of one part to the report's table. */
export function addFigures(run: Run, part: string, figures: Record<string, unknown>): void {
  for (const [figure, value] of Object.entries(figures))
    run.row({ part, figure, value: typeof value === 'number' ? String(value) : JSON.stringify(value) });
}

/** Requires something that a busy machine may not reach. */
export function requireWhenIdle(run: Run, guarantee: string, holds: boolean, saw: unknown): void {
  if (!run.flag('busy')) run.require(guarantee, holds, saw);
}

/** All requests were answered with these statuses. With --busy, a page of transactions may also be late and get 503. */
export function requireAnswered(run: Run, part: string, { statuses, failures }: Tally): void {
  const { 200: served = 0, 503: late = 0, ...others } = statuses;
  const isAllowed = Object.keys({ ...others, ...failures }).length === 0 && (late === 0 || run.flag('busy'));
  run.require(`${part}: every request succeeds`, isAllowed && served > 0, { statuses, failures });
}

/** Continuously requests /livez and records the peak memory. */
export function watchService(service: LoadedService) {
  const livez = new Tally();
  let [memoryMb, stopped] = [0, false];
  const watching = (async () => {
    while (!stopped) {
      await service.livezMs().then(
        (durationMs) => livez.answer(200, durationMs),
        (error: unknown) => livez.fail(String(error)),
      );
      memoryMb = Math.max(memoryMb, service.memoryMb);
      await Bun.sleep(LIVEZ_INTERVAL_MS);
    }
  })();
  return {
    livez,
    async stop() {
      stopped = true;
      await watching;
      return { livez, memoryMb };
    },
  };
}

/** Waits until consecutive requests of both kinds have succeeded. */
export async function untilAsUsual({ url }: LoadedService, seeded: Seeded): Promise<void> {
  let inARow = 0;
  await until(
    async () => {
      const paths = [
        ['/v1/cashback-offers/', seeded.publicToken],
        ['/v1/transactions/', seeded.privateToken],
      ] as const;
      for (inARow = 0; inARow < RECOVERY_REQUESTS; inARow++) {
        const [path, token] = paths[inARow % 2] ?? paths[0];
        const { status } = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
        if (status !== 200) return { status, path };
      }
      return undefined;
    },
    (failed) => failed === undefined,
  );
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
