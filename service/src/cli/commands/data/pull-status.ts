// offerbook pull status, which prints the state of every stream that has been pulled, and offerbook pull forget, for a source
// that is no longer pulled.

import { printCount, printCountOf } from '@offerbook/wire/count.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import { VERSION } from '../../../domain/build.ts';
import { systemClock } from '../../../domain/clock.ts';
import { failingSinceMs, type PullState } from '../../../domain/pull.ts';
import { forgetSource } from '../../../pull/forget-source.ts';
import { jsonCommand, openForReading, openForWriting, type StoreOptions } from '../../command.ts';
import { currentUser } from '../../current-user.ts';
import { printResult, printTime, table } from '../../output.ts';

export function statusCommand(): Command {
  return jsonCommand(
    'status',
    'list the streams of all sources: how far each has been read, and its last error',
    'offerbook pull status',
  ).action(printStatus);
}

export function forgetCommand(): Command {
  return jsonCommand(
    'forget',
    'forget a source that you no longer pull: withdraw its retailers and delete its state; sales stay',
    'offerbook pull forget awin:77777',
  )
    .argument('<source>', 'network and account, as in offerbook pull status')
    .action(forget);
}

async function printStatus(options: StoreOptions): Promise<void> {
  await using stores = await openForReading(options);
  const states = await stores.pulls.list();
  const rows = states.map((state) => ({
    SOURCE: state.source,
    STREAM: state.stream,
    ORGANISATION: state.orgName ?? '–',
    'COMPLETE THROUGH': printTime(state.completeThroughMs) ?? '–',
    'LAST ATTEMPT': printTime(state.attemptMs) ?? '–',
    'LAST SUCCESS': printTime(state.lastSuccessMs) ?? '–',
    'FAILING SINCE': printTime(failingSinceMs(state)) ?? '–',
    ADDED: printCount(state.counts.added),
    CHANGED: printCount(state.counts.changed),
    WITHDRAWN: printCount(state.counts.withdrawn),
    'LAST ERROR': state.error ?? '–',
  }));
  await printResult(options, states.map(toJson), table(rows, 'Nothing has been pulled yet.'));
}

function toJson(state: PullState) {
  const { source, stream, orgName, counts, error } = state;
  return {
    ...{ source, stream, organisation: orgName },
    completeThrough: printTime(state.completeThroughMs),
    lastAttempt: printTime(state.attemptMs),
    lastSuccess: printTime(state.lastSuccessMs),
    ...{ counts, error },
    failedAt: printTime(state.failedAtMs),
    failingSince: printTime(failingSinceMs(state)),
  };
}

async function forget(source: string, options: StoreOptions): Promise<void> {
  await using stores = await openForWriting(options);
  const states = await stores.pulls.list();
  if (!states.some((state) => state.source === source)) {
    throw new BadInput(`${source} has not been pulled; offerbook pull status lists all sources`);
  }
  const { withdrawn } = await forgetSource(
    source,
    { by: currentUser(), version: VERSION },
    stores,
    systemClock,
  );
  const text = `Forgot ${source}: ${printCountOf(withdrawn, 'retailer')} withdrawn. Its sales were kept.`;
  await printResult(options, { source, withdrawn }, text);
}
