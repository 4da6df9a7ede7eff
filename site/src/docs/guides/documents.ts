// The Markdown of the guides, imported as strings so that a bundle contains it. This is a separate module, so that its 200 KB
// are loaded only when a guide is first requested.

import changelog from '../../../../CHANGELOG.md' with { type: 'text' };
import client from '../../../../client/README.md' with { type: 'text' };
import activation from '../../../../docs/activation.md' with { type: 'text' };
import agents from '../../../../docs/agents.md' with { type: 'text' };
import errors from '../../../../docs/errors.md' with { type: 'text' };
import generators from '../../../../docs/generators.md' with { type: 'text' };
import gettingStarted from '../../../../docs/getting-started.md' with { type: 'text' };
import limits from '../../../../docs/limits.md' with { type: 'text' };
import lookUps from '../../../../docs/look-ups.md' with { type: 'text' };
import pagination from '../../../../docs/pagination.md' with { type: 'text' };
import polling from '../../../../docs/polling.md' with { type: 'text' };
import webhooks from '../../../../docs/webhooks.md' with { type: 'text' };

/** Documents by path from the repository root. */
export const DOCUMENTS = {
  'CHANGELOG.md': changelog,
  'client/README.md': client,
  'docs/activation.md': activation,
  'docs/agents.md': agents,
  'docs/errors.md': errors,
  'docs/generators.md': generators,
  'docs/getting-started.md': gettingStarted,
  'docs/limits.md': limits,
  'docs/look-ups.md': lookUps,
  'docs/pagination.md': pagination,
  'docs/polling.md': polling,
  'docs/webhooks.md': webhooks,
};

export type DocumentPath = keyof typeof DOCUMENTS;
