// The thread that sends webhooks, so that reading pages and signing them does not delay requests on the public port. Its priority
// is lower than that of the threads that serve requests.

import { systemClock } from '../../../domain/clock.ts';
import { Logger, type LogLevel } from '../../../domain/logger.ts';
import { openStores } from '../../../storage/open-stores.ts';
import { addressRules } from '../../../webhooks/address-rules.ts';
import { startSender } from '../../../webhooks/sender.ts';
import { currentUser } from '../../current-user.ts';
import { answerCalls, lowerPriority, THREAD_DATABASE } from '../threads/thread-client.ts';

export interface WebhookSetup {
  readonly databaseUrl: string;
  readonly networks: readonly string[];
  readonly logLevel: LogLevel;
}

/** `run` starts the sender unless it is running. */
export interface WebhookQuestion {
  readonly type: 'run' | 'stop';
  readonly setup: WebhookSetup;
}

export type WebhookAnswer = Awaited<ReturnType<typeof answer>>;

/** Not durable: after a power cut, some pages are sent again. */
const DATABASE_OPTIONS = { ...THREAD_DATABASE, statementTimeoutMs: 10_000 };

/** Requests come first, but webhooks still arrive within seconds if all cores are busy. */
const NICE = 5;
/** Shorter than the time that a node has to stop. */
const STOP_MAX_MS = 2_000;

/** Lines logged since the last answer. */
let logLines = '';
let running: ReturnType<typeof open> | undefined;

async function answer({ type, setup }: WebhookQuestion) {
  running ??= open(setup);
  const { sender, stop } = await running.catch((error) => {
    running = undefined;
    throw error;
  });
  if (type === 'stop') await stop();
  const told = { report: sender.report, logLines };
  logLines = '';
  return told;
}

answerCalls(answer);

async function open({ databaseUrl, networks, logLevel }: WebhookSetup) {
  lowerPriority(NICE);
  const write = (line: string) => {
    logLines += line;
  };
  const logger = new Logger(logLevel, write);
  const stores = await openStores(databaseUrl, DATABASE_OPTIONS, systemClock, {
    by: currentUser(),
    clusterLogger: logger,
  });
  // Detects failovers, which may lose changes that have already been sent.
  const look = () => stores.revisions().catch(() => {});
  await look();
  const stopWatching = stores.watch(() => void look());
  const sender = startSender({
    stores,
    clock: systemClock,
    logger,
    post: { rules: addressRules(networks) },
  });
  return {
    sender,
    async stop() {
      await sender.stop(STOP_MAX_MS);
      stopWatching();
      await stores.close();
    },
  };
}
