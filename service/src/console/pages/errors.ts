// Reads the data for the console's errors page.

import { errorsPage as render } from '@offerbook/site/console/errors-page.ts';
import { ERRORS } from '../../domain/api-errors.ts';
import type { MakePage } from '../page-context.ts';

export const errorsPage: MakePage = async ({ node: { nowMs, startedAtMs, state }, query }) => {
  const org = query.get('org') ?? undefined;
  const groups = [...state.callers.errors.values()]
    .filter(({ orgName }) => org === undefined || orgName === org)
    .map((group) => ({ ...group, status: ERRORS[group.code].status }))
    .toSorted((a, b) => b.lastAtMs - a.lastAtMs);
  return render({ nowMs, startedAtMs, org, groups });
};
