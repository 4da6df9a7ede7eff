// Forgets a source that is no longer pulled: withdraws its retailers, and deletes the state of its streams and its request
// counts. Its sales stay, with the network's rows: if the source is pulled again, a correction needs the rows that it corrects.

import { sourceFrom } from '@offerbook/wire/rows/import-source.ts';
import type { Clock } from '../domain/clock.ts';
import type { Stores } from '../domain/stores.ts';
import { importCatalogue } from '../importer/import-catalogue.ts';
import { type ImportReport, recordImport } from '../importer/import-report.ts';
import { holdLease } from './held-lease.ts';

/** Throws Refused if a process is pulling from this source. */
export async function forgetSource(
  name: string,
  { by, version }: { readonly by: string; readonly version: string },
  stores: Stores,
  clock: Clock,
): Promise<ImportReport> {
  await using held = await holdLease(stores.leases, name, by);
  const title = `no longer pulled: ${name}`;
  const nothing = sourceFrom('', title);
  const origin = { kind: 'catalogue', orgId: null, by, source: name, fileName: title, version } as const;
  return await recordImport(stores.imports, origin, nothing, (importId) =>
    importCatalogue(stores.catalogue, nothing, {
      ...{ importId, allowEmpty: true, allowWithdrawals: true },
      pulled: {
        source: name,
        nowMs: clock(),
        finish: async ({ pulls }) => {
          await pulls.holdLease(held.lease);
          await pulls.forget(name);
        },
      },
    }),
  );
}
