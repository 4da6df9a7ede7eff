// Reads the data for the console's webhooks page.

import { webhooksPage as render } from '@offerbook/site/console/webhooks-page.ts';
import { webhookState } from '../../domain/webhook.ts';
import type { MakePage } from '../page-context.ts';

export const webhooksPage: MakePage = async ({ node, stores: openStores }) => {
  const { webhooks } = await openStores();
  return render({
    nowMs: node.nowMs,
    isSending: node.state.sender?.isSending ?? false,
    webhooks: (await webhooks.list()).map((webhook) => ({
      ...webhook,
      state: webhookState(webhook),
      // The path may contain a secret.
      origin: new URL(webhook.url).origin,
    })),
  });
};
