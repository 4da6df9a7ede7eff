import { expect, test } from 'bun:test';
import { DATABASES } from '../support/databases.ts';
import { runNemesis } from './nemesis.ts';

const SEED = Number(process.env.TEST_SEED ?? 20_261_115);
const DURATION_MS = 4_000;

for (const database of DATABASES) {
  const replay = `npm run test:nemesis -- --seed ${SEED} --database ${database.name.toLowerCase()}`;

  test(`no poller misses a change on ${database.name}, whatever fails (to repeat: ${replay})`, async () => {
    const databaseUrl = await database.create();
    const report = await runNemesis({ databaseUrl, seed: SEED, durationMs: DURATION_MS });
    expect(report.violations).toEqual([]);
    expect(report.lost).toBe(0);
    // A run in which nothing happened would prove nothing.
    const { imports, changes, walks, pages } = report;
    expect(Math.min(imports, changes, walks, pages)).toBeGreaterThan(0);
    expect(report.connectionsEnded > 0).toBe(database.name === 'PostgreSQL');
  });
}
