// offerbook audit: prints the audit log, which has every administrative change except imports.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import type { AuditEntry } from '../../../domain/audit-log.ts';
import { jsonCommand, openForReading, type StoreOptions } from '../../command.ts';
import { parseCount } from '../../option-values.ts';
import { printResult, table } from '../../output.ts';

export function auditCommand(): Command {
  return jsonCommand('audit', 'print the audit log, newest first', 'offerbook audit --org acme')
    .option('--org <name>', 'only entries about this organisation')
    .option('--limit <number>', 'maximum number of entries', parseCount('--limit'), 100)
    .action(listAudit);
}

async function listAudit(options: StoreOptions & { org?: string; limit: number }): Promise<void> {
  await using stores = await openForReading(options);
  const { org, limit } = options;
  const entries = await stores.audit.list({ org, limit });
  const rows = entries.map((entry) => ({
    WHEN: printTimestamp(entry.atMs),
    BY: entry.by,
    WHAT: entry.action,
    ORG: entry.org ?? '',
    DETAILS: printDetails(entry),
  }));
  const json = entries.map(({ atMs, ...entry }) => ({ ...entry, at: printTimestamp(atMs) }));
  await printResult(options, json, table(rows, 'No entries.'));
}

function printDetails({ details }: AuditEntry): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
