// Reads the data for the Pulls page of the console.

import {
  pullsPage as render,
  type ShownRequests,
  type ShownStream,
} from '@offerbook/site/console/pulls-page.ts';
import { type PullState, REREAD, type SourceRequests } from '../../domain/pull.ts';
import { isLateStream } from '../../health/content-checks.ts';
import type { MakePage } from '../page-context.ts';

export const pullsPage: MakePage = async ({ node: { nowMs }, stores: openStores }) => {
  const { pulls } = await openStores();
  const streams = (await pulls.list()).map((state) => toStream(state, nowMs));
  const requests = (await pulls.listRequests()).map((one) => toRequests(one, nowMs));
  return render(streams, requests, nowMs);
};

function toStream(state: PullState, nowMs: number): ShownStream {
  const { stream, runMs, everyMs, failedAtMs } = state;
  const lastMs = Math.max(runMs ?? 0, failedAtMs ?? 0);
  return {
    ...state,
    isLate: isLateStream(state, nowMs),
    dueMs: stream === REREAD || everyMs === null ? null : lastMs + everyMs,
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
