// A scenario combines a cluster, traffic and faults, and checks the outcome against a model. The command `test:chaos` runs it for
// as long as wanted; a test file runs its short form.

import type { ParseArgsOptionDescriptor } from 'node:util';
import { DATABASES, type TestDatabase } from '../support/databases.ts';
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
  /** What happens and what must hold, for `--help` and the names of the tests. */
  readonly guarantee: string;
  /** The scenario runs once on each of these; on both databases if absent. */
  readonly databases?: readonly TestDatabase['name'][];
  /** Default of `--minutes`. */
  readonly minutes: number;
  /** Options besides those of every scenario. */
  readonly options?: Options;
  /** Counts that must not be zero at the end: a run in which nothing happened would prove nothing. */
  readonly mustHappen?: readonly string[];
  /** The form that continuous integration runs, with --busy; undefined if it takes too long. */
  readonly short?: { readonly minutes: number; readonly values?: Values };
  run(run: Run): Promise<void>;
}

/** The databases of the scenario that this run tests. */
export function databasesOf({ databases }: Scenario): readonly TestDatabase[] {
  return databases === undefined ? DATABASES : DATABASES.filter(({ name }) => databases.includes(name));
}
