// What answers requests: tokens in memory, the routes, and the port. A node has one of these in its only thread, or one
// in each of its workers. The catalogue is handed to it; who builds it is not its business.

import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../config.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores, TransactionQuery } from '../../domain/stores.ts';
import type { CounterMaker } from '../../http/access/request-counter.ts';
import { TokenDirectory } from '../../http/access/token-directory.ts';
import { type App, buildApp, type SandboxParts } from '../../http/app.ts';
import type { CallerTally } from '../../http/caller-tally.ts';
import type { ClickState } from '../../http/metrics.ts';
import type { Health } from '../../http/readiness.ts';
import type { RequestTally } from '../../http/request-tally.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { type NodeActivation, openActivation } from './activation.ts';
import type { Followed } from './change-follower.ts';
import type { DatabaseHealth } from './database-health.ts';
import { type Listener, listen } from './listen.ts';

const FLUSH_INTERVAL_MS = 30_000;

/** A page that nobody asked for, of no organisation: it is read from the primary on the connections that pages have. */
const PROBE: TransactionQuery = {
  orgId: 0,
  cursor: undefined,
  window: { minMs: 0, maxMs: 0 },
  limit: 1,
  atLeastMs: Number.POSITIVE_INFINITY,
};

export interface ServingOptions extends SandboxParts {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly stores: Stores;
  readonly catalogue: Catalogue;
  readonly databaseHealth: DatabaseHealth;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly requestCounter: CounterMaker;
  readonly tally: RequestTally;
  readonly tracer: Tracer | undefined;
  readonly callers: CallerTally;
  /** Whether others listen on the same port. */
  readonly sharesPort: boolean;
  /** How long a click waits for the database before it goes to the spool. */
  readonly clickDeadlineMs?: number;
}

export class Serving {
  readonly tokens: TokenDirectory;
  /** Undefined when activation is turned off. */
  readonly links: Followed | undefined;
  readonly #activation: NodeActivation | undefined;
  readonly #options: ServingOptions;
  readonly #app: App;
  readonly #flushTimer: Timer;
  #listener: Listener | undefined;
  #stopping = false;

  constructor(options: ServingOptions) {
    const { settings, stores, clock } = options;
    this.#options = options;
    this.tokens = new TokenDirectory(stores.tokens, () => stores.revisions(), clock);
    this.#activation = settings.activation === 'on' ? openActivation(options) : undefined;
    this.links = this.#activation && followedLinks(this.#activation, options.logger);
    this.#app = buildApp({
      ...options,
      tokens: this.tokens,
      transactions: stores.transactions,
      walks: stores.walks,
      activation: this.#activation?.activation,
      health: () => this.health,
      onDatabaseFailure: (error) => this.#databaseFailed(error),
      // Without a delay the port is closed at once, and whoever had to connect again would find it so.
      isLeaving: () => this.#stopping && settings.drainDelay > 0,
    });
    this.#flushTimer = setInterval(() => void this.#flush(), FLUSH_INTERVAL_MS);
  }

  get health(): Health {
    const { catalogue, databaseHealth } = this.#options;
    return {
      isReady: !this.#stopping && this.tokens.ready && catalogue.ready,
      isDatabaseUsable: databaseHealth.isUsable,
      areClicksSpooled: this.clicks?.isSpooling ?? false,
    };
  }

  /** Undefined when activation is turned off. */
  get clicks(): ClickState | undefined {
    const activation = this.#activation;
    return activation && { tally: activation.activation.tally, ...activation.recorder.state };
  }

  /** Reads what it keeps in memory. */
  async load(): Promise<void> {
    await this.tokens.refresh();
    await this.#activation?.start();
  }

  /** Opens the port; returns where that is. */
  listen(): string {
    const { settings, sharesPort } = this.#options;
    this.#listener = listen(this.#app, settings, sharesPort);
    return this.#listener.url;
  }

  /** Sends callers elsewhere: they have the time of --drain-delay to notice, and are answered all the while. */
  async drain(): Promise<void> {
    this.#stopping = true;
    await Bun.sleep(this.#options.settings.drainDelay * 1_000);
  }

  /** Closes the port, lets requests under way finish, and writes down what is to be stored of them. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#listener?.stop();
    clearInterval(this.#flushTimer);
    await this.#flush();
    await this.#activation?.stop();
  }

  async #flush(): Promise<void> {
    try {
      await this.tokens.flushUsed();
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'last use not written yet');
    }
  }

  #databaseFailed(error: unknown): void {
    const { databaseHealth, stores } = this.#options;
    databaseHealth.failed('requests', error, () => {
      stores.transactions.page(PROBE).then(
        () => databaseHealth.succeeded('requests'),
        (again) => this.#databaseFailed(again),
      );
    });
  }
}

function followedLinks({ directory }: NodeActivation, logger: Logger): Followed {
  return {
    get revision() {
      return directory.revision;
    },
    async refresh() {
      await directory.refresh();
      logger.info({ activation: directory.revision }, 'links taken up');
    },
  };
}
