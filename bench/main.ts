// Measures Offerbook's speed relative to other servers on the same machine in the same run. Prints tables, and writes the
// table of targets with a plot to docs/performance.md.
//   npm run bench -- [--only catalogue,large] [--imported] [--seconds 1] [--repeats 7] [--keep-docs]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { writeReport } from './report.ts';
import { table } from './table.ts';
import type { Finding, Topic } from './topic.ts';
import { activation } from './topics/activation.ts';
import { catalogue } from './topics/catalogue.ts';
import { large } from './topics/large.ts';
import { manyWorkers } from './topics/many-workers.ts';
import { start } from './topics/start.ts';
import { transactions } from './topics/transactions.ts';
import { workers } from './topics/workers.ts';

const TOPICS: Readonly<Record<string, Topic>> = {
  catalogue,
  large,
  transactions,
  start,
  workers,
  'many-workers': manyWorkers,
  activation,
};

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(TOPICS).join(',') },
    seconds: { type: 'string', default: '1' },
    repeats: { type: 'string', default: '7' },
    imported: { type: 'boolean', default: false },
    'keep-docs': { type: 'boolean', default: false },
  },
});

const print = (text: string) => process.stdout.write(`${text}\n\n`);
const findings: Finding[] = [];
print(describeMachine());
for (const name of options.only.split(',')) {
  const topic = TOPICS[name];
  if (topic === undefined) throw new Error(`unknown topic "${name}"; use ${Object.keys(TOPICS).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'offerbook-bench-'));
  try {
    const report = await topic({
      folder,
      seconds: Number(options.seconds),
      repeats: Number(options.repeats),
      isImported: options.imported,
    });
    for (const text of report.details) print(text);
    findings.push(...report.findings);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const summary = findingsTable(findings);
print(summary);
if (!options['keep-docs']) {
  const machine = `Measured on ${describeMachine()} Each figure is the median of ${options.repeats} measurements of ${options.seconds} s.`;
  writeReport([machine, summary].join('\n\n'));
}

function findingsTable(found: readonly Finding[]): string {
  const rows = found.map(({ work, target, measured, met }) => [
    work,
    target,
    measured,
    met === undefined ? '?' : met ? 'yes' : 'no',
  ]);
  return table(['work', 'target', 'measured', 'met'], rows);
}
