// The nemesis of webhooks: importers change transactions all the time, receivers fail in every way, and nodes are stopped, killed
// and frozen. At the end, every receiver's copy must equal the database.

import { Random } from '@offerbook/sandbox/random.ts';
import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Stores } from '../../src/domain/stores.ts';
import { NO_WATERMARK_MS } from '../../src/domain/webhook.ts';
import { idOf, newOrganisation, readAllTransactions } from '../storage/open-test-stores.ts';
import { putDocuments } from '../support/put-documents.ts';
import { FaultyReceiver, type VersionedRow } from './faulty-receiver.ts';

/** Something that can happen to the nodes. It returns when the node sends webhooks again, or could. */
export type Sabotage = () => Promise<void>;

interface NemesisOptions {
  readonly stores: Stores;
  readonly seed: number;
  readonly durationMs: number;
  readonly sabotages: Readonly<Record<string, Sabotage>>;
  readonly pauseMs: number;
  readonly hangMs: number;
  readonly slowMs: number;
  /** Called often; makes retries due. */
  readonly hurry: () => Promise<void>;
  readonly settleMaxMs: number;
}

export interface NemesisReport {
  readonly counts: Readonly<Record<string, number>>;
  /** Rows that a receiver does not have in their current version. */
  readonly lost: number;
  readonly older: number;
  readonly overlaps: number;
}

const ORGANISATIONS = 3;
const ENDPOINTS = 2;
const ROWS = 400;

export async function runNemesis(options: NemesisOptions): Promise<NemesisReport> {
  const { stores, seed, durationMs, sabotages, pauseMs, hangMs, slowMs, hurry } = options;
  const random = new Random(seed);
  const endMs = performance.now() + durationMs;
  const isRunning = () => performance.now() < endMs;
  const counts: Record<string, number> = { imports: 0, replays: 0 };
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };
  const orgIds: number[] = [];
  const endpoints: { readonly id: Uuid; readonly orgId: number; readonly receiver: FaultyReceiver }[] = [];
  const replays: Promise<unknown>[] = [];
  for (let i = 0; i < ORGANISATIONS; i++) {
    const { id: orgId } = await newOrganisation(stores, `org ${i}`);
    orgIds.push(orgId);
    for (let j = 0; j < ENDPOINTS; j++) {
      let webhook: Uuid | undefined;
      const receiver = new FaultyReceiver({
        random: new Random(seed + 7 * i + j + 1),
        hangMs,
        slowMs,
        onForgotten(sinceMs) {
          count('replays');
          if (webhook !== undefined)
            replays.push(stores.webhooks.replay(webhook, sinceMs ?? NO_WATERMARK_MS));
        },
      });
      webhook = (await stores.webhooks.create(orgId, await receiver.listen(), NO_WATERMARK_MS)).id;
      endpoints.push({ id: webhook, orgId, receiver });
    }
  }

  let version = 0;
  async function importAll(orgIndex: number): Promise<void> {
    const own = new Random(seed + 100 + orgIndex);
    const orgId = orgIds[orgIndex] ?? 0;
    while (isRunning()) {
      const size = own.unit() < 0.1 ? 250 : 1 + Math.floor(own.unit() * 5);
      const numbers = new Set(Array.from({ length: size }, () => Math.floor(own.unit() * ROWS)));
      await stores.transactions.write(orgId, async (writer) => {
        const rows = [...numbers].map((number) => {
          const id = idOf(1_000 * orgIndex + number);
          const row = { id, updatedAt: printTimestamp(writer.stampMs), version: ++version };
          return { id, updatedAtMs: writer.stampMs, document: JSON.stringify(row satisfies VersionedRow) };
        });
        await putDocuments(writer, rows);
        await writer.advanceClock(writer.stampMs);
      });
      count('imports');
      await Bun.sleep(own.unit() * 2 * pauseMs);
    }
  }

  async function sabotage(): Promise<void> {
    while (isRunning()) {
      await Bun.sleep((1 + random.unit()) * 3 * pauseMs);
      const name = random.pick(Object.keys(sabotages));
      count(name);
      await sabotages[name]?.();
    }
  }

  async function hurryUp(): Promise<void> {
    while (isRunning()) {
      await Bun.sleep(pauseMs);
      await hurry();
    }
  }

  await Promise.all([...orgIds.map((_, i) => importAll(i)), sabotage(), hurryUp()]);
  for (const { receiver } of endpoints) receiver.faultShare = 0;
  await Promise.all(replays);
  const settleEndMs = performance.now() + options.settleMaxMs;
  while ((await stores.webhooks.list()).some(({ behindSinceMs }) => behindSinceMs !== null)) {
    if (performance.now() > settleEndMs) break;
    await hurry();
    await Bun.sleep(100);
  }

  let lost = 0;
  for (const { orgId, receiver } of endpoints) {
    for (const { id, document } of await readAllTransactions(stores, orgId))
      if (JSON.stringify(receiver.copy.get(id)) !== document) lost++;
    for (const [fault, times] of receiver.counts) count(`requests: ${fault}`, times);
    receiver.close();
  }
  const sum = (of: (receiver: FaultyReceiver) => number) =>
    endpoints.reduce((total, { receiver }) => total + of(receiver), 0);
  return { counts, lost, older: sum(({ older }) => older), overlaps: sum(({ overlaps }) => overlaps) };
}
