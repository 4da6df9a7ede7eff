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
import type { ServedNetworks } from './served-networks.ts';

export abstract class PullRig implements AsyncDisposable {
  readonly notes: string[] = [];
  limits: ResponseLimits | undefined;
  nowMs: number;
  url = '';
  /** Set by openDatabase(). */
  stores!: Stores;
  protected abstract readonly served: ServedNetworks;

  protected constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  protected async openDatabase(database: TestDatabase): Promise<this> {
    this.url = await database.create();
    this.stores = await openStores(this.url, CREATE_OPTIONS, () => this.nowMs);
    return this;
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.served[Symbol.dispose]();
    await this.stores.close();
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
