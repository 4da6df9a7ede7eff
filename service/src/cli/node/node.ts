// A node: opens the database, loads the catalogue and tokens, listens, reloads on changes, and drains on stop. Requests are served
// by this thread, or by workers.

import { openAdmin } from './admin.ts';
import type { NodeOptions } from './node-settings.ts';
import { openServing, type Serving } from './serving.ts';
import { openSnapshotBuilder, type SnapshotBuilder } from './snapshot-builder.ts';
import { openWebhookHost } from './webhooks/webhook-host.ts';

interface NodeParts {
  /** Default: this thread. */
  readonly serving?: Promise<Serving> | undefined;
  /** Closed with the node. */
  readonly builder?: SnapshotBuilder;
}

export async function startNode(options: NodeOptions, parts: NodeParts = {}) {
  const { databaseUrl, logger } = options;
  const serving: Serving = await (parts.serving ?? openServing(options));
  const builder = parts.builder ?? openSnapshotBuilder(databaseUrl, serving.tracer);
  const catalogue = {
    get revision() {
      return serving.catalogue.snapshot?.revision;
    },
    async refresh() {
      serving.replace(await builder.build());
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
    closeAdmin = openAdmin(options, { ...serving, sender: () => webhooks.report });
    await Promise.all([serving.start({ catalogue, webhooks }), catalogue.refresh()]);
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
    failure: serving.failure,
    /** Lets requests in progress finish, then closes everything. */
    async stop() {
      await serving.drain();
      await stop();
      logger.info('stopped');
    },
  };
}
