// offerbook imports: prints the import log.

import { printCount } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { Command, Option } from 'commander';
import { IMPORT_KINDS, type ImportEntry, type ImportKind } from '../../../domain/import-log.ts';
import { jsonCommand, readStores, type StoreOptions } from '../../command.ts';
import { parseCount } from '../../option-values.ts';
import { printable, printResult, printTime, table } from '../../output.ts';
import { getOrganisation } from '../access/organisations.ts';

interface ListOptions extends StoreOptions {
  readonly kind?: ImportKind;
  readonly org?: string;
  readonly limit: number;
}

export function importsCommand(): Command {
  const list = jsonCommand('list', 'list imports, newest first', 'offerbook imports list --org acme')
    .addOption(new Option('--kind <kind>', 'only imports of this kind').choices(IMPORT_KINDS))
    .option('--org <name>', 'only imports for this organisation')
    .option('--limit <number>', 'maximum number of imports', parseCount('--limit'), 50)
    .action(listImports);
  const show = jsonCommand('show', 'show one import and its problems', 'offerbook imports show 12')
    .argument('<id>', 'id from offerbook imports list', parseCount('<id>'))
    .action(showImport);
  return new Command('imports').description('read the import log').addCommand(list).addCommand(show);
}

async function listImports(options: ListOptions): Promise<void> {
  const { kind, limit } = options;
  await readStores(options, async (stores) => {
    const orgId =
      options.org === undefined ? undefined : (await getOrganisation(stores, options.org, 'to read')).id;
    const entries = await stores.imports.list({ kind, orgId, limit });
    const rows = entries.map((entry) => [
      String(entry.id),
      printTimestamp(entry.beganAtMs),
      entry.kind,
      entry.orgName ?? '',
      entry.outcome,
      printCount(entry.counts.read),
      changes(entry),
      entry.by,
      entry.fileName,
    ]);
    const text = table(
      ['ID', 'BEGAN', 'KIND', 'ORG', 'OUTCOME', 'ROWS', 'CHANGES', 'BY', 'FILE'],
      rows,
      'No imports.',
    );
    await printResult(options, entries.map(toJson), text);
  });
}

async function showImport(id: number, options: StoreOptions): Promise<void> {
  await readStores(options, async (stores) => {
    const entry = await stores.imports.find(id);
    if (entry === undefined)
      throw new BadInput(`there is no import ${id}; list them with: offerbook imports list`);
    await printResult(options, toJson(entry), describe(entry));
  });
}

/** `+3 ~1 -2`: added, changed, withdrawn. */
function changes({ counts: { added, changed, withdrawn } }: ImportEntry): string {
  const parts: string[] = [];
  if (added > 0) parts.push(`+${printCount(added)}`);
  if (changed > 0) parts.push(`~${printCount(changed)}`);
  if (withdrawn > 0) parts.push(`-${printCount(withdrawn)}`);
  return parts.join(' ');
}

function describe(entry: ImportEntry): string {
  const facts: [string, string][] = [
    ['import', `${entry.id}, ${entry.kind}${entry.orgName === null ? '' : ` of "${entry.orgName}"`}`],
    ['outcome', entry.reason === null ? entry.outcome : `${entry.outcome}: ${entry.reason}`],
    ['began', printTimestamp(entry.beganAtMs)],
    [
      'ended',
      entry.endedAtMs === null ? 'unknown' : `${printTimestamp(entry.endedAtMs)} (${secondsOf(entry)} s)`,
    ],
    ['by', entry.by],
    ['source', entry.source ?? ''],
    ['file', entry.fileName],
    ['SHA-256', entry.fileDigest ?? 'unknown'],
    ['version', entry.version],
    [
      'rows',
      Object.entries(entry.counts)
        .map(([name, count]) => `${printCount(count)} ${name}`)
        .join(', '),
    ],
  ];
  const lines = facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name.padEnd(8)} ${printable(value)}`);
  return [...lines, ...printProblems(entry)].join('\n');
}

/** Null if the import has no recorded end. */
function secondsOf({ beganAtMs, endedAtMs }: ImportEntry): number | null {
  return endedAtMs === null ? null : (endedAtMs - beganAtMs) / 1_000;
}

function toJson(entry: ImportEntry) {
  const { beganAtMs, endedAtMs, orgId: _, orgName, ...rest } = entry;
  return {
    ...rest,
    org: orgName,
    beganAt: printTimestamp(beganAtMs),
    endedAt: printTime(endedAtMs),
    seconds: secondsOf(entry),
  };
}
