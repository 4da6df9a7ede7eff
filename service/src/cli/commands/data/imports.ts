// offerbook imports: prints the import log.

import { printCount } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import { type Command, Option } from 'commander';
import { IMPORT_KINDS, type ImportEntry, type ImportKind } from '../../../domain/import-log.ts';
import { group, jsonCommand, openForReading, type StoreOptions } from '../../command.ts';
import { parseCount } from '../../option-values.ts';
import { printable, printResult, printTime, table } from '../../output.ts';
import { findOrgId } from '../access/organisations.ts';

export function importsCommand(): Command {
  const list = jsonCommand('list', 'list imports, newest first', 'offerbook imports list --org acme')
    .addOption(new Option('--kind <kind>', 'only imports of this kind').choices(IMPORT_KINDS))
    .option('--org <name>', 'only imports for this organisation')
    .option('--limit <number>', 'maximum number of imports', parseCount('--limit'), 50)
    .action(listImports);
  const show = jsonCommand('show', 'show one import and its problems', 'offerbook imports show 12')
    .argument('<id>', 'id from offerbook imports list', parseCount('<id>'))
    .action(showImport);
  return group('imports', 'read the import log', [list, show]);
}

async function listImports(
  options: StoreOptions & { kind?: ImportKind; org?: string; limit: number },
): Promise<void> {
  await using stores = await openForReading(options);
  const { kind, limit } = options;
  const entries = await stores.imports.list({ kind, orgId: await findOrgId(stores, options.org), limit });
  const rows = entries.map((entry) => ({
    ID: String(entry.id),
    BEGAN: printTimestamp(entry.beganAtMs),
    KIND: entry.kind,
    ORG: entry.orgName ?? '',
    OUTCOME: entry.outcome,
    ROWS: printCount(entry.counts.read),
    CHANGES: changes(entry),
    BY: entry.by,
    FILE: entry.fileName,
  }));
  await printResult(options, entries.map(toJson), table(rows, 'No imports.'));
}

async function showImport(id: number, options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const entry = await stores.imports.find(id);
  if (entry === undefined)
    throw new BadInput(`there is no import ${id}; list them with: offerbook imports list`);
  await printResult(options, toJson(entry), describe(entry));
}

/** `+3 ~1 -2`: added, changed, withdrawn. */
function changes({ counts: { added, changed, withdrawn } }: ImportEntry): string {
  const parts = Object.entries({ '+': added, '~': changed, '-': withdrawn });
  return parts.flatMap(([sign, count]) => (count > 0 ? `${sign}${printCount(count)}` : [])).join(' ');
}

function describe(entry: ImportEntry): string {
  const { id, kind, orgName, outcome, reason, endedAtMs, counts } = entry;
  const facts = {
    import: `${id}, ${kind}${orgName === null ? '' : ` of "${orgName}"`}`,
    outcome: reason === null ? outcome : `${outcome}: ${reason}`,
    began: printTimestamp(entry.beganAtMs),
    ended: endedAtMs === null ? 'unknown' : `${printTimestamp(endedAtMs)} (${secondsOf(entry)} s)`,
    by: entry.by,
    source: entry.source ?? '',
    file: entry.fileName,
    'SHA-256': entry.fileDigest ?? 'unknown',
    version: entry.version,
    rows: Object.entries(counts)
      .map(([name, count]) => `${printCount(count)} ${name}`)
      .join(', '),
  };
  const lines = Object.entries(facts)
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
