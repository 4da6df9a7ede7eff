// Databases from before schema version 8. Version numbers alone do not identify them: between 0.1.0 and 0.2.0, development
// versions changed the tables and kept the number 1. So each is identified by the columns of its tables.

import type { Part } from './schema.ts';
import { MAIN_TABLES } from './tables.ts';

/** A version whose databases `offerbook migrate` upgrades. */
export type OldRelease = '0.1.0' | '6036a2ab';

const RELEASES: Readonly<Record<string, OldRelease>> = {
  f1d962e1e52f: '0.1.0',
  d640ad17700f: '6036a2ab',
};

/** The first commit whose databases have these columns. */
const DEVELOPMENT: Readonly<Record<string, string>> = {
  '26c426250e5c': '90fa5ab2',
  '696fbed5b57b': '19aeb237',
  d913e3f627f8: '0a08ca48',
  d36552ee2ec0: '3909fcac',
  '7cb92ab7b67b': '42993310',
  '2d28c0d58d8f': '7070a227',
  '862427014735': 'c2a223f3',
  '046a0a9d9055': 'fe16d86c',
  e49ebd1be3e4: '3bfee738',
  '377c94010551': 'c717c502',
};

export function findOldRelease(parts: readonly Part[]): OldRelease | undefined {
  return RELEASES[fingerprint(parts)];
}

/** How to keep the data of a database that no release wrote. */
export function adviceFor(version: number, parts: readonly Part[]): string {
  const commit = DEVELOPMENT[fingerprint(parts)];
  if (commit !== undefined)
    return `export its catalogue and transactions with commit ${commit}, and import them into a new database`;
  const command = version > 4 && version < 8 ? 'offerbook migrate' : 'offerbook copy';
  return `upgrade it to 0.1.0 first, with ${command} of commit 756fdd18, or export it with the version that created it`;
}

/** These tables are in the main database on SQLite and PostgreSQL. */
const TABLES = new Set([...MAIN_TABLES.map(({ name }) => name), 'pull_leases']);
const CONSTRAINT = /^(?:PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK|INDEX|STRICT|WITHOUT)\b/;

/** SQLite and PostgreSQL have the same fingerprint, because their columns have the same names. */
function fingerprint(parts: readonly Part[]): string {
  const columns = parts
    .filter(({ table, definition }) => TABLES.has(table) && !CONSTRAINT.test(definition))
    .map(({ table, definition }) => `${table}.${definition.split(' ', 1)[0]}`);
  return new Bun.CryptoHasher('sha256').update(columns.sort().join('\n')).digest('hex').slice(0, 12);
}
