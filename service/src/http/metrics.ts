// What a monitoring system sees: requests and their durations by route, and what is in memory. Labels are our
// own routes and statuses, never anything that a caller sent.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { ReplicaState } from '../domain/stores.ts';

export interface NodeState {
  readonly replica: ReplicaState | undefined;
  readonly catalogueRevision: number | undefined;
  readonly isReady: boolean;
  /** Whether the last look at the database succeeded. */
  readonly isDatabaseUsable: boolean;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: 'offerbook_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['route', 'status'],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: 'offerbook_http_request_duration_seconds',
    help: 'How long answers took.',
    labelNames: ['route'],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 2.5],
    registers: [this.#registry],
  });

  constructor(state: () => NodeState) {
    this.#gauge('offerbook_ready', 'Whether this process should get requests.', () =>
      Number(state().isReady),
    );
    this.#gauge(
      'offerbook_database_usable',
      'Whether the database, the primary if it has replicas, can be read.',
      () => Number(state().isDatabaseUsable),
    );
    this.#gauge(
      'offerbook_catalogue_revision',
      'The revision of the catalogue that is served.',
      () => state().catalogueRevision ?? 0,
    );
    if (state().replica !== undefined) this.#replicaGauges(() => state().replica);
    this.#gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'Processor time used.',
      registers: [this.#registry],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    });
  }

  count(route: string, status: number, durationMs: number): void {
    this.#requests.inc({ route, status });
    this.#durations.observe({ route }, durationMs / 1000);
  }

  async page(): Promise<Response> {
    return new Response(await this.#registry.metrics(), {
      headers: { 'Content-Type': this.#registry.contentType },
    });
  }

  #replicaGauges(replica: () => ReplicaState | undefined): void {
    this.#gauge('offerbook_replica_usable', 'Whether pages of transactions are read from the replica.', () =>
      Number(replica()?.isUsable ?? false),
    );
    this.#gauge(
      'offerbook_replica_lag_seconds',
      'How far the replica is behind the primary.',
      () => (replica()?.lagMs ?? 0) / 1_000,
    );
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}
