// Reads the data for the Pulls page of the console.

import {
  pullsPage as render,
  type ShownRequests,
  type ShownStream,
} from '@offerbook/site/console/pulls-page.ts';
import { type PullState, REREAD, type SourceRequests } from '../../domain/pull.ts';
import type { MakePage } from '../page-context.ts';

export const pullsPage: MakePage = async ({ node: { nowMs }, stores: openStores }) => {
  const { pulls } = await openStores();
  return render({
    nowMs,
    streams: (await pulls.list()).map(toStream),
    requests: (await pulls.listRequests()).map((requests) => toRequests(requests, nowMs)),
  });
};

function toStream({ stream, runMs, everyMs, failedAtMs, ...state }: PullState): ShownStream {
  const isReread = stream === REREAD;
  const lastMs = Math.max(runMs ?? 0, failedAtMs ?? 0);
  return {
    ...state,
    stream,
    failedAtMs,
    isReread,
    dueMs: isReread || everyMs === null ? null : lastMs + everyMs,
  };
}

function toRequests({ budget, ...requests }: SourceRequests, nowMs: number): ShownRequests {
  if (budget === null) return { ...requests, budget };
  const { intervalMs, burst, nextAtMs } = budget;
  const usedMs = Math.max(0, nextAtMs - nowMs);
  return {
    ...requests,
    budget: {
      perMinute: 60_000 / intervalMs,
      free: Math.max(0, Math.floor(burst - usedMs / intervalMs)),
      nextAtMs: nowMs + Math.max(0, usedMs + (1 - burst) * intervalMs),
    },
  };
}
