// The list of health checks. `doctor` prints it, the console's overview shows it, and the metrics export it, so that they agree.

import type { Check, Verdict } from './check.ts';
import { imports, pulls, tokens, webhooks, writeLock } from './content-checks.ts';
import { backup, clock, database, failover, rights, schema } from './database-checks.ts';
import type { Facts } from './facts.ts';
import { clicks, disk, node, replica, workers } from './node-checks.ts';

/** To add a check, add an entry here and a row in docs/operations/doctor.md. A check without its facts returns undefined. */
export const CHECKS: Readonly<Record<string, (facts: Facts) => Verdict | undefined>> = {
  node,
  workers,
  database,
  schema,
  rights,
  clock,
  backup,
  failover,
  'import of catalogue': imports('catalogue'),
  'import of links': imports('links'),
  'import of transactions': imports('transactions'),
  'write lock': writeLock,
  tokens,
  webhooks,
  pulls,
  replica,
  disk,
  clicks,
};

export function runChecks(facts: Facts): Check[] {
  return Object.entries(CHECKS).flatMap(([check, judge]) => {
    const verdict = judge(facts);
    return verdict === undefined ? [] : { check, ...verdict };
  });
}
