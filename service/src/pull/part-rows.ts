// Stores the network's rows for sales that have several rows, because a later row, such as a correction, changes the sum of its
// sale.

import type { SalePart } from '@offerbook/feeds/network.ts';
import type { SalePull } from '@offerbook/feeds/pull/sale-pull.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { passbackUidProblem } from '@offerbook/wire/text.ts';
import { timestampMs } from '@offerbook/wire/timestamp.ts';
import type { ClickIds } from '../activation/click-id.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { PulledRow } from '../domain/pull.ts';
import type { TransactionWriters } from '../domain/transaction.ts';
import { TemporaryRows } from './temporary-rows.ts';

const BATCH = 500;

type Parts = NonNullable<SalePull['parts']>;

/** A row to be stored. */
interface NewRow extends PulledRow {
  readonly soldAtMs: number;
}

export class PartRows implements Disposable {
  readonly #parts: Parts;
  readonly #source: Source;
  readonly #org: Organisation | undefined;
  readonly #clickIds: ClickIds;
  readonly #nowMs: number;
  readonly #rows = new TemporaryRows();
  /** Numbers of the rows in the temporary file, by part. */
  readonly #numbers = new Map<string, number>();

  constructor(
    parts: Parts,
    source: Source,
    org: Organisation | undefined,
    clickIds: ClickIds,
    nowMs: number,
  ) {
    this.#parts = parts;
    this.#source = source;
    this.#org = org;
    this.#clickIds = clickIds;
    this.#nowMs = nowMs;
  }

  /** Adds a row as the network sent it. It replaces the same part of an earlier page. */
  add({ saleId, partId, soldAt }: SalePart, value: unknown): void {
    const fields = value as Readonly<Record<string, unknown>>;
    const owner = this.#ownerOf(fields[this.#parts.subIdField]);
    if (owner === undefined) return;
    const soldAtMs = timestampMs(soldAt);
    const dueAtMs = soldAtMs + (this.#parts.dueAfterMs ?? Number.NEGATIVE_INFINITY);
    const document = JSON.stringify(
      Object.fromEntries(
        this.#parts.fields.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])),
      ),
    );
    const row: NewRow = {
      saleId,
      partId,
      ...owner,
      dueAtMs: dueAtMs > this.#nowMs ? dueAtMs : null,
      document,
      soldAtMs,
    };
    const key = JSON.stringify([saleId, partId]);
    const before = this.#numbers.get(key);
    if (before !== undefined) this.#rows.drop(before);
    this.#numbers.set(key, this.#rows.append(JSON.stringify(row)));
  }

  async flush(): Promise<void> {
    await this.#rows.flush();
  }

  /** Returns a stored row as the network sent it. */
  toNetworkRow({ document, subId }: PulledRow): unknown {
    const { subIdField } = this.#parts;
    const { subId: kind, separator = '' } = this.#source;
    const sent = kind === 'org-uid' ? `${this.#org?.name}${separator}${subId ?? ''}` : subId;
    return { ...JSON.parse(document), [subIdField]: sent };
  }

  /** Stores the rows. A sale made before its user was erased is stored without the sub-id. */
  async store(source: string, writers: TransactionWriters): Promise<void> {
    let batch: PulledRow[] = [];
    for await (const line of lines(this.#rows.chunks())) {
      const { soldAtMs, ...row } = JSON.parse(line) as NewRow;
      const erasedAtMs = row.subId === null ? undefined : writers.of(row.orgId)?.erasedAtMs(row.subId);
      const isErased = erasedAtMs !== undefined && soldAtMs < erasedAtMs;
      batch.push(isErased ? { ...row, subId: null } : row);
      if (batch.length < BATCH) continue;
      await writers.pulls.putRows(source, batch);
      batch = [];
    }
    if (batch.length > 0) await writers.pulls.putRows(source, batch);
  }

  /** Returns undefined for a row of another organisation. */
  #ownerOf(value: unknown): { readonly orgId: number; readonly subId: string | null } | undefined {
    const orgId = this.#org?.id ?? 0;
    const subId = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    const { subId: kind, separator = '' } = this.#source;
    if (kind === 'org-uid') {
      const start = `${this.#org?.name}${separator}`;
      return subId.startsWith(start) ? { orgId, subId: orNull(subId.slice(start.length)) } : undefined;
    }
    if (orNull(subId) === null) return { orgId, subId: null };
    return { orgId: kind === 'click' ? (this.#clickIds.parse(subId)?.orgId ?? orgId) : orgId, subId };
  }

  [Symbol.dispose](): void {
    this.#rows[Symbol.dispose]();
  }
}

/** The conversion also ignores an invalid user. */
function orNull(subId: string): string | null {
  return subId === '' || passbackUidProblem(subId) !== undefined ? null : subId;
}

async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
}
