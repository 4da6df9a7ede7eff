// A scenario combines a cluster, traffic and faults, and checks the outcome against a model. The command `test:chaos` runs it for
// as long as wanted; a test file runs its short form.

import type { ParseArgsOptionDescriptor } from 'node:util';
import type { TestDatabase } from '../support/databases.ts';
import type { Run } from './report/run.ts';

export interface Option extends ParseArgsOptionDescriptor {
  /** A phrase for `--help`. */
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;
export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export interface Scenario {
  /** The name on the command line. */
  readonly name: string;
  /** One sentence for `--help`: what happens and what must hold. */
  readonly summary: string;
  /** The scenario runs once on each of these. A scenario with an empty list runs once and creates its databases itself. */
  readonly databases: readonly TestDatabase['name'][];
  /** Default of `--minutes`. */
  readonly minutes: number;
  /** Options besides --minutes, --seed and --database. */
  readonly options?: Options;
  /** Counts that must not be zero at the end: a run in which nothing happened would prove nothing. */
  readonly mustHappen?: readonly string[];
  /** The form that continuous integration runs; undefined if it takes too long. */
  readonly short?: { readonly minutes: number; readonly values?: Values };
  run(run: Run): Promise<void>;
}

export const BOTH: Scenario['databases'] = ['SQLite', 'PostgreSQL'];
