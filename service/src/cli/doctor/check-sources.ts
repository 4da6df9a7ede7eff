// Checks the sources of `pull`: their files, their secrets, and one small request to each network.

import { BadInput } from '@offerbook/wire/failures.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Check, fault, ok } from '../../health/check.ts';
import { withoutWaiting } from '../../pull/check-source.ts';
import { findSourceProblem, readPullSource } from '../commands/data/pull-sources.ts';

export interface CheckedSources {
  readonly paths: readonly string[];
  readonly allowOtherHost: boolean;
}

export async function checkSources(
  { paths, allowOtherHost }: CheckedSources,
  clock: Clock,
): Promise<Check[]> {
  return await Array.fromAsync(paths, (path) => checkOne(path, allowOtherHost, clock));
}

async function checkOne(path: string, allowOtherHost: boolean, clock: Clock): Promise<Check> {
  try {
    const source = await readPullSource(path, { allowOtherHost });
    const problem = await findSourceProblem(source, {
      ...{ stores: { pulls: withoutWaiting(clock) }, clock, tries: 1 },
      ...{ sleep: (ms) => Bun.sleep(ms), random: Math.random },
    });
    const check = `source ${source.name}`;
    if (problem === undefined)
      return { check, ...ok("the credentials work, and the network's clock agrees") };
    return { check, ...fault(problem, 'until this is fixed, no sales are pulled: docs/feeds.md, Pull') };
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    const advice = 'fix the source file or the files that it names';
    return { check: `source ${path}`, ...fault(error.message, advice) };
  }
}
