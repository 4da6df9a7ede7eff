// Reads the data for the console's organisations page.

import { type Behind, organisationsPage as render } from '@offerbook/site/console/organisations-page.ts';
import { endMs, isExpiring, isLive, tokenState } from '../../domain/access-token.ts';
import type { OrganisationTally } from '../../http/caller-tally.ts';
import type { MakePage } from '../page-context.ts';

export const organisationsPage: MakePage = async ({ node, stores: openStores }) => {
  const stores = await openStores();
  const { nowMs, startedAtMs, state } = node;
  const organisations = await stores.organisations.list();
  const clocks = await stores.organisations.changeClocks();
  const { tokens } = await stores.tokens.list();
  return render({
    nowMs,
    startedAtMs,
    organisations: organisations.map(({ id, name, publicId, createdAtMs }) => {
      const tally = state.callers.organisations.get(id);
      const changedAtMs = clocks.get(id) ?? createdAtMs;
      // Every use of a private token counts as a poll, because private tokens can only read transactions.
      const used = tokens.filter((token) => token.orgId === id && token.kind === 'private');
      const polledAtMs = latest([tally?.lastPollAtMs, ...used.map(({ lastUsedAtMs }) => lastUsedAtMs)]);
      return {
        name,
        publicId,
        changedAtMs: changedAtMs === createdAtMs ? undefined : changedAtMs,
        polledAtMs,
        behind: behind(tally, polledAtMs, changedAtMs, nowMs),
        readThroughMs: tally?.syncedThroughMs,
        liveTokens: tokens.filter((token) => token.orgId === id && isLive(token, nowMs)).length,
        requests: tally?.requests ?? 0,
        errors: tally?.errors ?? 0,
      };
    }),
    tokens: tokens.map((token) => ({
      id: token.id,
      orgName: token.orgName,
      kind: token.kind,
      label: token.label,
      state: tokenState(token, nowMs),
      isExpiring: isExpiring(token, nowMs),
      lastUsedAtMs: token.lastUsedAtMs,
      endMs: endMs(token),
    })),
  });
};

/**
 * Computes how far an organisation's polls lag behind. The database does not record which changes a poll has returned, so this
 * node knows only about the polls that it answered.
 */
function behind(
  tally: OrganisationTally | undefined,
  polledAtMs: number | undefined,
  changedAtMs: number,
  nowMs: number,
): Behind {
  const isAtMost = tally?.lastPollAtMs !== polledAtMs;
  if (tally?.syncedThroughMs === undefined) return { waitedMs: undefined, isAtMost };
  const isUpToDate = tally.syncedThroughMs >= changedAtMs;
  return { waitedMs: isUpToDate ? 0 : nowMs - tally.syncedThroughMs, isAtMost };
}

function latest(moments: readonly (number | null | undefined)[]): number | undefined {
  const known = moments.filter((ms) => typeof ms === 'number');
  return known.length === 0 ? undefined : Math.max(...known);
}
