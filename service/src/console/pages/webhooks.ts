// Reads the data for the console's webhooks page.

import { webhooksPage as render } from '@offerbook/site/console/webhooks-page.ts';
import { webhookState } from '../../domain/webhook.ts';
import type { MakePage } from '../page-context.ts';

export const webhooksPage: MakePage = async ({ node, stores: openStores }) => {
  const { webhooks } = await openStores();
  const shown = (await webhooks.list()).map((webhook) => {
    // The path may contain a secret.
    return { ...webhook, state: webhookState(webhook), origin: new URL(webhook.url).origin };
  });
  return render(shown, node.state.sender?.isSending ?? false, node.nowMs);
};
