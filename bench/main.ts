// Measures Offerbook's speed relative to other servers on the same machine in the same run.
//   npm run bench -- [--seconds 1] [--repeats 7]
//     prints tables, and writes the targets and the speeds of catalogue pages to docs/performance.md
//   npm run bench -- TOPIC … [options]
//     only prints; the topics in SCRIPTS have their own options, which are in their first lines

import { parseArgs } from 'node:util';
import { withFolder } from './folder.ts';
import { describeMachine, writeReport } from './report.ts';
import { table } from './table.ts';
import type { Finding, Topic } from './topic.ts';
import { activation } from './topics/activation.ts';
import { catalogue } from './topics/catalogue.ts';
import { largeCatalogue } from './topics/large-catalogue.ts';
import { transactions } from './topics/transactions.ts';
import { manyWorkers, start, workers } from './topics/workers.ts';

const TOPICS: Readonly<Record<string, Topic>> = {
  catalogue,
  'large-catalogue': largeCatalogue,
  transactions,
  start,
  workers,
  'many-workers': manyWorkers,
  activation,
};
const SCRIPTS = ['pull', 'search'];

const [first = ''] = process.argv.slice(2);
if (SCRIPTS.includes(first)) {
  process.argv.splice(2, 1);
  await import(`./${first}.ts`);
} else {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: 'string', default: '1' }, repeats: { type: 'string', default: '7' } },
  });
  await measure(positionals, Number(values.seconds), Number(values.repeats));
}

async function measure(names: readonly string[], seconds: number, repeats: number): Promise<void> {
  const findings: Finding[] = [];
  const speeds: string[] = [];
  print(describeMachine());
  for (const name of names.length === 0 ? Object.keys(TOPICS) : names) {
    const topic = TOPICS[name];
    if (topic === undefined)
      throw new Error(`unknown topic "${name}"; use ${[...Object.keys(TOPICS), ...SCRIPTS].join(', ')}`);
    const show = (text: string) => {
      print(text);
      if (topic === catalogue) speeds.push(text);
    };
    findings.push(...(await withFolder((folder) => topic({ folder, seconds, repeats, print: show }))));
  }
  const rows = findings.map(({ work, target, measured, met }) => [
    work,
    target,
    measured,
    met ? 'yes' : 'no',
  ]);
  const summary = table(['work', 'target', 'measured', 'met'], rows);
  print(summary);
  if (names.length > 0) return;
  const machine = `Measured on ${describeMachine()} Each figure is the median of ${repeats} measurements of ${seconds} s.`;
  writeReport([machine, summary, ...speeds].join('\n\n'));
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
