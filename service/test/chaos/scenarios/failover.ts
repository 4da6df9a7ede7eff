// Repeated failovers under load: the primary is killed, frozen, stopped or cut off, and its standby is promoted.

import { MODES } from '../cluster/failover-cluster.ts';
import { PRIMARY_FAULTS } from '../cluster/primary-faults.ts';
import type { Scenario } from '../scenario.ts';
import { openStage } from './failover-stage.ts';

const FIRST_PAGE_WITHIN_S = 5;

export const failover: Scenario = {
  name: 'failover',
  guarantee: 'no acknowledged change is lost unnoticed when a standby replaces the primary',
  databases: ['PostgreSQL'],
  minutes: 60,
  options: {
    rounds: { type: 'string', default: '1', help: 'for each mode and fault' },
    mode: { type: 'string', multiple: true, help: `${MODES.join(', ')}; all if absent` },
    fault: {
      type: 'string',
      multiple: true,
      help: `${PRIMARY_FAULTS.map(({ name }) => name).join(', ')}; all if absent`,
    },
  },
  mustHappen: ['failovers', 'imports', 'clicks'],
  short: { minutes: 5, values: { mode: 'asynchronous', fault: 'loss' } },
  async run(run) {
    const faults = run.choose('fault', PRIMARY_FAULTS);
    for (const mode of run.choose('mode', MODES)) {
      await using stage = await openStage(run, mode);
      const all = faults.flatMap((fault) => Array.from({ length: run.number('rounds') }, () => fault));
      for (const fault of run.random(mode).shuffled(all)) {
        if (run.isOver) break;
        const failover = `${mode} ${fault.name}`;
        const note = (kind: string, what: string) => run.violation(kind, `${failover}: ${what}`);
        const { reports, wrong, behind, ...figures } = await stage.play(fault, note);
        const mayLose = mode !== 'synchronous' && fault.loses;
        const { 'lost rows': lostRows, 'lost clicks': lostClicks, contradicted, extra } = figures;
        if (!mayLose && lostRows > 0) note('LOST', `${lostRows} rows of acknowledged imports`);
        if (!mayLose && lostClicks > 0) note('LOST', `${lostClicks} clicks`);
        if (contradicted > 0) note('CONTRADICTED', `${contradicted} rows differ: ${wrong}`);
        if (extra > 0 && (mode === 'synchronous' || reports.length === 0))
          note('EXTRA', `${extra} rows are only in copies`);
        if (!mayLose && reports.length > 0) note('FALSE ALARM', reports.join(' '));
        for (const name of behind) note('CLOCK', `the change clock of ${name} is earlier than a failover`);
        const firstPage = figures['first 200, s'];
        run.requireWhenIdle(`${failover}: first 200 within 5 s`, firstPage <= FIRST_PAGE_WITHIN_S, firstPage);
        run.count('failovers');
        run.count('imports', figures.imports);
        run.count('clicks', figures.clicks);
        const row = { failover, ...figures, reports: reports.length };
        run.rows.push(row);
        run.print(JSON.stringify(row));
        for (const line of reports) {
          const { msg, lost } = JSON.parse(line) as { msg: string; lost?: unknown };
          run.print(`  reported: ${msg} ${JSON.stringify(lost)}`);
        }
      }
    }
  },
};
