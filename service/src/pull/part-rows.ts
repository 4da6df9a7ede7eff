// Stores the network's rows for sales that have several rows, because a later row, such as a correction, changes the sum of its
// sale.

import type { SalePart } from '@offerbook/feeds/network.ts';
import type { SalePull } from '@offerbook/feeds/pull/network-pull.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { passbackUidProblem } from '@offerbook/wire/text.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { ClickIds } from '../activation/click-id.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { PulledRow } from '../domain/pull.ts';
import type { TransactionWriters } from '../domain/transaction.ts';

const BATCH = 500;

type NewRow = PulledRow & { readonly soldAtMs: number };

export type PartRows = ReturnType<typeof partRows>;

export function partRows(
  parts: NonNullable<SalePull['parts']>,
  { subId: kind, separator = '' }: Source,
  org: Organisation | undefined,
  clickIds: ClickIds,
  nowMs: number,
) {
  /** In memory, as are all parts of the sales until they have been joined. */
  const added = new Map<string, NewRow>();
  const orgId = org?.id ?? 0;
  /** What precedes the user in a sub-id that names the organisation. */
  const start = kind === 'org-uid' ? `${org?.name}${separator}` : '';

  /** Returns undefined for a row of another organisation. */
  function ownerOf(value: unknown): Pick<PulledRow, 'orgId' | 'subId'> | undefined {
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    if (!text.startsWith(start)) return undefined;
    const subId = text.slice(start.length);
    // The conversion also ignores an invalid user.
    if (subId === '' || passbackUidProblem(subId) !== undefined) return { orgId, subId: null };
    return { orgId: kind === 'click' ? (clickIds.parse(subId)?.orgId ?? orgId) : orgId, subId };
  }

  return {
    /** Adds a row as the network sent it. It replaces the same part of an earlier page. */
    add({ saleId, partId, soldAt }: SalePart, value: unknown): void {
      const fields = value as Readonly<Record<string, unknown>>;
      const owner = ownerOf(fields[parts.subIdField]);
      if (owner === undefined) return;
      const soldAtMs = timestampMs(soldAt);
      const dueAtMs = soldAtMs + (parts.dueAfterMs ?? Number.NEGATIVE_INFINITY);
      const kept = parts.fields.flatMap((name) => (name in fields ? [[name, fields[name]]] : []));
      added.set(JSON.stringify([saleId, partId]), {
        ...{ saleId, partId, ...owner, soldAtMs },
        dueAtMs: dueAtMs > nowMs ? dueAtMs : null,
        document: JSON.stringify(Object.fromEntries(kept)),
      });
    },

    /** Returns a stored row as the network sent it. */
    toNetworkRow({ document, subId }: PulledRow): unknown {
      const sent = kind === 'org-uid' ? `${start}${subId ?? ''}` : subId;
      return { ...JSON.parse(document), [parts.subIdField]: sent };
    },

    /** Stores the rows. A sale made before its user was erased is stored without the sub-id. */
    async store(source: string, writers: TransactionWriters): Promise<void> {
      const withoutErased = ({ soldAtMs, ...row }: NewRow): PulledRow => {
        const erasedAtMs = row.subId === null ? undefined : writers.of(row.orgId)?.erasedAtMs(row.subId);
        const isErased = erasedAtMs !== undefined && soldAtMs < erasedAtMs;
        return isErased ? { ...row, subId: null } : row;
      };
      const rows = [...added.values()];
      for (let at = 0; at < rows.length; at += BATCH)
        await writers.pulls.putRows(source, rows.slice(at, at + BATCH).map(withoutErased));
    },
  };
}
