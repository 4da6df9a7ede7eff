// What the tests of pulls share: a database, a clock that only waiting moves, and one run over a source.

import { openCataloguePull, openSalePull } from '@offerbook/feeds/networks.ts';
import type { Source } from '@offerbook/feeds/source/source-file.ts';
import { ACCOUNTS, type NetworkName } from '@offerbook/sandbox/networks/accounts.ts';
import type { Stores } from '../../src/domain/stores.ts';
import type { PullableSource } from '../../src/pull/network-client.ts';
import { pullSource } from '../../src/pull/pull-source.ts';
import type { ResponseLimits } from '../../src/pull/response-watch.ts';
import type { PullOptions, StreamReport } from '../../src/pull/source-run.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import type { TestDatabase } from '../support/databases.ts';

export interface PullDatabase {
  readonly url: string;
  readonly stores: Stores;
  readonly time: { nowMs: number };
}

export async function openPullDatabase(database: TestDatabase, nowMs: number): Promise<PullDatabase> {
  const time = { nowMs };
  const url = await database.create();
  return { url, time, stores: await openStores(url, CREATE_OPTIONS, () => time.nowMs) };
}

export abstract class PullRig {
  readonly url: string;
  readonly stores: Stores;
  readonly notes: string[] = [];
  limits: ResponseLimits | undefined;
  readonly #time: { nowMs: number };

  constructor({ url, stores, time }: PullDatabase) {
    this.url = url;
    this.stores = stores;
    this.#time = time;
  }

  get nowMs(): number {
    return this.#time.nowMs;
  }

  set nowMs(ms: number) {
    this.#time.nowMs = ms;
  }

  get context() {
    return {
      stores: this.stores,
      clock: () => this.nowMs,
      sleep: async (ms: number) => {
        this.nowMs += Math.ceil(ms);
      },
      random: () => 0.5,
      leaseTimings: { leaseMs: 50, renewEveryMs: 10, checkEveryMs: 5 },
      limits: this.limits,
    };
  }

  protected run(
    source: PullableSource,
    options: Pick<PullOptions, 'only' | 'org' | 'startMs'>,
    stores: Stores,
  ): Promise<StreamReport[]> {
    const onNote = (note: string) => this.notes.push(note);
    const how = { by: 'test@host', version: '0', onNote, ...options };
    return pullSource(source, how, { ...this.context, stores });
  }
}

export function pullableOf(source: Source, name: NetworkName): PullableSource {
  const pull = openSalePull(source);
  if (pull === undefined) throw new Error(`${name} cannot be pulled`);
  return {
    ...{ source, pull, catalogue: openCataloguePull(source), secrets: ACCOUNTS[name].credentials },
    ...{ overlay: new Map(), coupons: undefined },
  };
}

export function errorsOf(reports: readonly StreamReport[]): (string | null)[] {
  return reports.map(({ error }) => error);
}
