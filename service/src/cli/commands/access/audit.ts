// offerbook audit: prints the audit log of changes to organisations and tokens, purges, erasures, copies and migrations.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import type { AuditEntry } from '../../../domain/audit-log.ts';
import { jsonCommand, readStores, type StoreOptions } from '../../command.ts';
import { parseCount } from '../../option-values.ts';
import { printResult, table } from '../../output.ts';

export function auditCommand(): Command {
  return jsonCommand('audit', 'print the audit log, newest first', 'offerbook audit --org acme')
    .option('--org <name>', 'only entries about this organisation')
    .option('--limit <number>', 'maximum number of entries', parseCount('--limit'), 100)
    .action(listAudit);
}

async function listAudit(options: StoreOptions & { org?: string; limit: number }): Promise<void> {
  await readStores(options, async (stores) => {
    const entries = await stores.audit.list({ org: options.org, limit: options.limit });
    const rows = entries.map((entry) => [
      printTimestamp(entry.atMs),
      entry.by,
      entry.action,
      entry.org ?? '',
      details(entry),
    ]);
    const text = table(['WHEN', 'BY', 'WHAT', 'ORG', 'DETAILS'], rows, 'No entries.');
    await printResult(options, entries.map(toJson), text);
  });
}

function details({ details }: AuditEntry): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function toJson({ atMs, ...entry }: AuditEntry) {
  return { ...entry, at: printTimestamp(atMs) };
}
