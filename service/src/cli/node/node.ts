// A node in one thread: opens the database, loads the catalogue and tokens, listens, reloads on changes, and drains on stop.
// Used by `serve` without workers and by `sandbox`.

import { KeptRequestCounts } from '../../http/access/request-counts.ts';
import { openAdmin } from './admin.ts';
import type { NodeOptions } from './node-settings.ts';
import { openServing } from './serving.ts';
import { openSnapshotBuilder, type SnapshotBuilder } from './snapshot-builder.ts';
import { openWebhookHost } from './webhooks/webhook-host.ts';

export interface RunningNode {
  readonly url: string;
  /** Rejects if the node cannot continue. */
  readonly failure?: Promise<never>;
  /** Lets requests in progress finish, then closes everything. */
  stop(): Promise<void>;
}

/** `ownBuilder` is closed with the node. */
export async function startNode(options: NodeOptions, ownBuilder?: SnapshotBuilder): Promise<RunningNode> {
  const { databaseUrl, logger } = options;
  const requestCounts = new KeptRequestCounts();
  const serving = await openServing({ ...options, requestCounts, sharesPort: false });
  const { catalogue } = serving;
  const builder = ownBuilder ?? openSnapshotBuilder(databaseUrl, serving.tracer);
  const loaded = {
    get revision() {
      return catalogue.revision;
    },
    async refresh() {
      catalogue.replace(await builder.build());
    },
  };
  const webhooks = openWebhookHost(options, serving.stores);
  let closeAdmin: (() => Promise<void>) | undefined;
  const stop = async () => {
    await Promise.all([serving.stop(), webhooks.stop()]);
    await Promise.all([closeAdmin?.(), builder.close()]);
    await serving.close();
  };
  let url: string;
  try {
    closeAdmin = openAdmin(options, {
      stores: serving.stores,
      catalogue,
      isReady: serving.isReady,
      report: serving.report,
      workers: () => ({ ready: Number(serving.isReady()), restarts: 0 }),
      sender: () => webhooks.report,
    });
    await serving.load({ catalogue: loaded, webhooks });
    await loaded.refresh();
    await webhooks.refresh();
    // Listen only after everything is loaded: proxies retry a refused connection on another node, but not a 503.
    url = serving.listen();
    logger.info({ url }, 'listening');
    // The snapshot does not contain changes that were committed during the build.
    serving.reloadChanges();
  } catch (error) {
    await stop();
    throw error;
  }
  logger.info({ revision: catalogue.revision }, 'ready');

  return {
    url,
    async stop() {
      await serving.drain();
      await stop();
      logger.info('stopped');
    },
  };
}
