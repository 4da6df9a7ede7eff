// The Markdown of the guides, imported as strings so that a bundle contains it. This is a separate module, so that its 340 KB
// are loaded only when a guide is first requested.

import changelog from '../../../../CHANGELOG.md' with { type: 'text' };
import client from '../../../../client/README.md' with { type: 'text' };
import activation from '../../../../docs/activation.md' with { type: 'text' };
import agents from '../../../../docs/agents.md' with { type: 'text' };
import errors from '../../../../docs/errors.md' with { type: 'text' };
import awin from '../../../../docs/feeds/awin.md' with { type: 'text' };
import cj from '../../../../docs/feeds/cj.md' with { type: 'text' };
import impact from '../../../../docs/feeds/impact.md' with { type: 'text' };
import partnerize from '../../../../docs/feeds/partnerize.md' with { type: 'text' };
import rakuten from '../../../../docs/feeds/rakuten.md' with { type: 'text' };
import table from '../../../../docs/feeds/table.md' with { type: 'text' };
import feeds from '../../../../docs/feeds.md' with { type: 'text' };
import generators from '../../../../docs/generators.md' with { type: 'text' };
import gettingStarted from '../../../../docs/getting-started.md' with { type: 'text' };
import limits from '../../../../docs/limits.md' with { type: 'text' };
import lookUps from '../../../../docs/look-ups.md' with { type: 'text' };
import runningActivation from '../../../../docs/operations/activation.md' with { type: 'text' };
import backups from '../../../../docs/operations/backups.md' with { type: 'text' };
import console from '../../../../docs/operations/console.md' with { type: 'text' };
import databases from '../../../../docs/operations/databases.md' with { type: 'text' };
import doctor from '../../../../docs/operations/doctor.md' with { type: 'text' };
import failover from '../../../../docs/operations/failover.md' with { type: 'text' };
import growing from '../../../../docs/operations/growing.md' with { type: 'text' };
import imports from '../../../../docs/operations/imports.md' with { type: 'text' };
import installing from '../../../../docs/operations/installing.md' with { type: 'text' };
import monitoring from '../../../../docs/operations/monitoring.md' with { type: 'text' };
import proxies from '../../../../docs/operations/proxies.md' with { type: 'text' };
import replication from '../../../../docs/operations/replication.md' with { type: 'text' };
import serving from '../../../../docs/operations/serving.md' with { type: 'text' };
import upgrading from '../../../../docs/operations/upgrading.md' with { type: 'text' };
import sendingWebhooks from '../../../../docs/operations/webhooks.md' with { type: 'text' };
import operations from '../../../../docs/operations.md' with { type: 'text' };
import polling from '../../../../docs/polling.md' with { type: 'text' };
import privacy from '../../../../docs/privacy.md' with { type: 'text' };
import security from '../../../../docs/security.md' with { type: 'text' };
import webhooks from '../../../../docs/webhooks.md' with { type: 'text' };

/** Documents by path from the repository root. */
export const DOCUMENTS = {
  'CHANGELOG.md': changelog,
  'client/README.md': client,
  'docs/activation.md': activation,
  'docs/agents.md': agents,
  'docs/errors.md': errors,
  'docs/feeds.md': feeds,
  'docs/feeds/awin.md': awin,
  'docs/feeds/cj.md': cj,
  'docs/feeds/impact.md': impact,
  'docs/feeds/partnerize.md': partnerize,
  'docs/feeds/rakuten.md': rakuten,
  'docs/feeds/table.md': table,
  'docs/generators.md': generators,
  'docs/getting-started.md': gettingStarted,
  'docs/limits.md': limits,
  'docs/look-ups.md': lookUps,
  'docs/operations.md': operations,
  'docs/operations/activation.md': runningActivation,
  'docs/operations/backups.md': backups,
  'docs/operations/console.md': console,
  'docs/operations/databases.md': databases,
  'docs/operations/doctor.md': doctor,
  'docs/operations/failover.md': failover,
  'docs/operations/growing.md': growing,
  'docs/operations/imports.md': imports,
  'docs/operations/installing.md': installing,
  'docs/operations/monitoring.md': monitoring,
  'docs/operations/proxies.md': proxies,
  'docs/operations/replication.md': replication,
  'docs/operations/serving.md': serving,
  'docs/operations/upgrading.md': upgrading,
  'docs/operations/webhooks.md': sendingWebhooks,
  'docs/polling.md': polling,
  'docs/privacy.md': privacy,
  'docs/security.md': security,
  'docs/webhooks.md': webhooks,
};

export type DocumentPath = keyof typeof DOCUMENTS;
