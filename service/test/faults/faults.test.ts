// PostgreSQL faults under load. `npm run test:faults` runs all faults, for more rounds.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { allowedMs } from '../support/allowed-ms.ts';
import { CONNECTIONS_MAX, playRound, type RoundReport } from './fault-round.ts';
import { POSTGRES_FAULTS } from './postgres-faults.ts';
import { Stage } from './stage.ts';

/** The other faults are short, or tested in http/outage.test.ts. */
const PLAYED = ['frozen', 'cut off without a reset', 'out of connections', 'failed over to another address'];

const faults = POSTGRES_FAULTS.filter(({ name }) => PLAYED.includes(name));
const stages: Stage[] = [];
const reports = new Map<string, RoundReport>();

// Run the faults concurrently: most of their time is waiting.
beforeAll(async () => {
  const opening = faults.map(({ withStandby }) => Stage.open({ withStandby: withStandby === true }));
  stages.push(...(await Promise.all(opening)));
  await Promise.all(
    faults.map(async (fault, i) => reports.set(fault.name, await playRound(stages[i] as Stage, fault))),
  );
});

afterAll(async () => {
  for (const stage of stages) await stage[Symbol.asyncDispose]();
});

describe.each(PLAYED)('while PostgreSQL is %s', (name) => {
  const report = () => reports.get(name) as RoundReport;

  test('the catalogue is served from memory, and every response is correct', () => {
    expect(report().wrong).toEqual([]);
    expect(report().requests).toBeGreaterThan(100);
  });

  test('requests for transactions get 503 within the time limit', () => {
    expect(report().unavailable).toBeGreaterThan(0);
    expect(report().slowest503Ms).toBeLessThan(allowedMs(2_000));
  });

  test('the service recovers without a restart, and no connection leaks', () => {
    expect(report().recoveryMs).toBeLessThan(allowedMs(5_000));
    expect(report().connections).toBeLessThanOrEqual(CONNECTIONS_MAX);
  });
});
