// One run over one source: the operator's settings, the lease, and the connection to the network.

import type { ConvertReport } from '@offerbook/feeds/convert-run.ts';
import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { type ImportSource, sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import { printProblems } from '@offerbook/wire/rows/row-problem.ts';
import { ClickIds } from '../activation/click-id.ts';
import type { LeaseTimings } from '../domain/lease.ts';
import type { Organisation } from '../domain/organisation.ts';
import type { Lease, PullCounts, StreamKey } from '../domain/pull.ts';
import { isStorageError } from '../domain/storage-error.ts';
import type { Stores } from '../domain/stores.ts';
import type { UnattributedRows } from '../importer/attribution.ts';
import { type ImportReport, recordImport } from '../importer/import-report.ts';
import { networkClient, type PullableSource, type RequestContext, sourceName } from './network-client.ts';
import { RequestFailed } from './network-failures.ts';
import type { TemporaryRows } from './temporary-rows.ts';

export interface PullOptions {
  /** Default: both. The catalogue is then read only if it is due; see isCatalogueDue. */
  readonly only?: 'transactions' | 'catalogue' | undefined;
  readonly org: Organisation | undefined;
  /** Where a stream without state starts. */
  readonly startMs: number;
  /** Reads every stream again from here. */
  readonly sinceMs?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly skipInvalid?: boolean | undefined;
  /** As in the options of a catalogue import. */
  readonly maxWithdrawals?: number | undefined;
  readonly allowWithdrawals?: boolean | undefined;
  readonly unattributed?: UnattributedRows | undefined;
  /** User and machine. */
  readonly by: string;
  readonly version: string;
  /** Called after each page with the rows read so far of one window or catalogue, and its name. */
  readonly onRows?: ((rows: number, what: string) => void) | undefined;
  readonly onNote?: ((note: string) => void) | undefined;
}

export interface PullContext extends RequestContext {
  readonly stores: Stores;
  readonly leaseTimings?: Partial<LeaseTimings> | undefined;
}

export interface StreamFailure {
  /** Why reading the stream stopped early; null if it is up to date. */
  readonly error: string | null;
  /** Start of the first failed attempt since the last success; null if the stream is up to date, and in a dry run. */
  readonly failingSinceMs: number | null;
}

export const NO_FAILURE: StreamFailure = { error: null, failingSinceMs: null };

export interface StreamReport extends StreamFailure {
  readonly source: string;
  readonly stream: string;
  readonly completeThroughMs: number | null;
  readonly windows: number;
  readonly counts: PullCounts;
}

export type SourceRun = Awaited<ReturnType<typeof openSourceRun>>;

export async function openSourceRun(
  pullable: PullableSource,
  options: PullOptions,
  context: PullContext,
  lease: Lease,
) {
  const { org, by, version, dryRun, onNote } = options;
  const { imports, pulls, clickKey } = context.stores;
  const name = sourceName(pullable.source);
  const client = networkClient(pullable, context);
  const attempted: StreamKey[] = [];

  function note(title: string, text: string): void {
    onNote?.(`${name}, ${title}: ${text}`);
  }

  return {
    ...{ name, pullable, options, context, lease, client, note },
    startedMs: context.clock(),
    clickIds: new ClickIds(await clickKey()),

    key: (stream: string): StreamKey => ({ source: name, orgId: org?.id ?? 0, stream }),

    /**
     * Imports rows, records that in the import log, and prints what the conversion and the import report. A trial is a dry run that
     * prints nothing.
     */
    async import(
      kind: 'transactions' | 'catalogue',
      title: string,
      input: {
        readonly rows: TemporaryRows;
        readonly converted: ConvertReport;
        readonly isTrial?: boolean | undefined;
      },
      work: (source: ImportSource, importId?: number) => Promise<ImportReport>,
    ): Promise<void> {
      const source = sourceFrom(input.rows.chunks(), title);
      const orgId = kind === 'catalogue' ? null : (org?.id ?? null);
      const origin = { kind, orgId, by, source: name, fileName: title, version };
      const report =
        input.isTrial === true || dryRun === true
          ? await work(source)
          : await recordImport(imports, origin, source, (id) => work(source, id));
      if (input.isTrial === true) return;
      for (const found of [input.converted, report]) {
        for (const line of [...printProblems(found), ...found.notes]) note(title, line);
      }
    },

    async noteAttempt(keys: readonly StreamKey[]): Promise<void> {
      if (dryRun === true) return;
      attempted.push(...keys);
      await pulls.noteAttempt(keys);
    },

    /** Records a failure of this stream. Rethrows unexpected errors. */
    async explain(error: unknown, key: StreamKey): Promise<StreamFailure & { readonly error: string }> {
      const isExpected = [RequestFailed, BadInput, Refused].some((expected) => error instanceof expected);
      if (!isExpected) throw error;
      const { message } = error as Error;
      const failingSinceMs = dryRun === true ? null : await pulls.noteFailure(key, message);
      return { error: message, failingSinceMs };
    },

    /** An error in our own code fails this source, and no other. Returns the error to throw, whose message contains no secret. */
    async explainUnexpected(error: unknown): Promise<unknown> {
      if (error instanceof Refused || isStorageError(error)) return error;
      const message = `unexpected error: ${client.redact(String(error))}`;
      for (const key of attempted) {
        const state = await pulls.find(key);
        if (typeof state?.tryingSinceMs === 'number') await pulls.noteFailure(key, message);
      }
      note('unexpected error', client.redact((error as Error).stack ?? ''));
      return new Refused(`${name}: ${message}`);
    },
  };
}
