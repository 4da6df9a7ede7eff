// offerbook pull status: the state of every stream that has been pulled.

import { printCount } from '@offerbook/wire/count.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Command } from 'commander';
import { failingSinceMs, type PullState } from '../../../domain/pull.ts';
import { jsonCommand, readStores, type StoreOptions } from '../../command.ts';
import { printResult, table } from '../../output.ts';

export function statusCommand(): Command {
  return jsonCommand(
    'status',
    'list the streams of all sources: how far each has been read, and its last error',
    'offerbook pull status',
  ).action(printStatus);
}

async function printStatus(options: StoreOptions): Promise<void> {
  await readStores(options, async (stores) => {
    const states = await stores.pulls.list();
    const text = table(
      [
        'SOURCE',
        'STREAM',
        'ORGANISATION',
        'COMPLETE THROUGH',
        'LAST ATTEMPT',
        'LAST SUCCESS',
        'FAILING SINCE',
        'ADDED',
        'CHANGED',
        'WITHDRAWN',
        'LAST ERROR',
      ],
      states.map((state) => [
        ...[state.source, state.stream, state.orgName ?? '–'],
        ...[printTime(state.completeThroughMs), printTime(state.attemptMs), printTime(state.lastSuccessMs)],
        printTime(failingSinceMs(state)),
        ...[printCount(state.counts.added), printCount(state.counts.changed)],
        ...[printCount(state.counts.withdrawn), state.error ?? '–'],
      ]),
      'Nothing has been pulled yet.',
    );
    await printResult(options, states.map(stateToJson), text);
  });
}

function printTime(ms: number | null): string {
  return ms === null ? '–' : printTimestamp(ms);
}

function stateToJson(state: PullState) {
  const { source, stream, orgName, counts, error } = state;
  const time = (ms: number | null) => (ms === null ? null : printTimestamp(ms));
  return {
    ...{ source, stream, organisation: orgName },
    completeThrough: time(state.completeThroughMs),
    lastAttempt: time(state.attemptMs),
    lastSuccess: time(state.lastSuccessMs),
    counts,
    error,
    failedAt: time(state.failedAtMs),
    failingSince: time(failingSinceMs(state)),
  };
}
