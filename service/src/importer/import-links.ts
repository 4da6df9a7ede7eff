// Imports activation links: the redirect targets of retailers and deals, and further domains of retailers' sites. The file
// contains all links, so links that are missing from it are withdrawn, except in a merge. Links can be imported before their
// retailers and deals.

import { templateProblem } from '@offerbook/wire/link-template.ts';
import type { Columns } from '@offerbook/wire/rows/csv.ts';
import type { ImportSource } from '@offerbook/wire/rows/import-source.ts';
import { TRANSACTION_LIMITS } from '@offerbook/wire/rows/row-limits.ts';
import { type CheckedRow, checkRow, printPlace, rejected } from '@offerbook/wire/rows/row-problem.ts';
import { UuidPlaces } from '@offerbook/wire/rows/uuid-places.ts';
import { listOf, OBJECT, parsedBy, problemCheck, text, uuid } from '@offerbook/wire/scalars.ts';
import { parseSiteDomain } from '@offerbook/wire/site-domain.ts';
import { z } from 'zod';
import type { Link, LinkStore, LinkWriter } from '../domain/catalogue.ts';
import type { ImportReport, WholeFileOptions } from './import-report.ts';
import { ImportRun } from './import-run.ts';

/** More than any retailer has. */
const DOMAINS_MAX = 1_000;

const domain = text("Domain of the retailer's site", 'greenthumb.example').check(
  parsedBy(
    parseSiteDomain,
    () => 'must be a domain such as shop.example, and not a public suffix such as co.uk',
  ),
);

const FIELDS = {
  retailerId: uuid('Retailer identifier', '0192d1a0-0000-7000-8000-000000000001').nullish(),
  dealId: uuid(
    'Identifier of an offer, a coupon or a promotion',
    '0192d1a0-0000-7000-8000-000000000011',
  ).nullish(),
  template: text('Redirect target of a click', 'https://network.example/click?sub={click}').check(
    problemCheck(templateProblem),
  ),
  // A CSV file has no lists: its domains are separated by spaces.
  domains: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : value),
      listOf(domain, DOMAINS_MAX),
    )
    .nullish(),
};

const COLUMNS: Columns = new Map(Object.keys(FIELDS).map((name) => [name, 'text']));

export function importLinks(
  store: LinkStore,
  source: ImportSource,
  options: WholeFileOptions,
): Promise<ImportReport> {
  const run = new ImportRun(source, options);
  const schema = options.ignoreUnknown === true ? z.object(FIELDS, OBJECT) : z.strictObject(FIELDS, OBJECT);
  return run.carryOut<LinkWriter>(
    (work) => store.write(work, options.importId),
    async (writer) => {
      const before = new Map((await writer.list()).map((link) => [link.id, link]));
      const seen = new UuidPlaces();
      for await (const batch of run.batches({ columns: COLUMNS, limits: TRANSACTION_LIMITS })) {
        const written: Link[] = [];
        for (const raw of batch) {
          const { value: link, problems } = checkLink(checkRow(raw, schema), seen);
          if (problems !== undefined) {
            run.reject(problems);
            continue;
          }
          const known = before.get(link.id);
          const outcome =
            known === undefined ? 'added' : Bun.deepEquals(known, link) ? 'unchanged' : 'changed';
          run.counts[outcome]++;
          if (outcome !== 'unchanged') written.push(link);
        }
        if (written.length > 0 && run.isWriting) await writer.put(written);
      }
      run.requireValid();
      // Any link that seems to be missing may be one of the invalid rows.
      if (options.merge !== true && run.counts.invalid > 0) {
        run.notes.push('Nothing was withdrawn, because the file has invalid rows.');
      } else if (options.merge !== true) {
        const gone = [...before.keys()].filter((id) => !seen.has(id));
        const advice = 'If this is intended';
        await run.withdraw(writer, gone, { total: before.size, noun: 'link', advice });
      }
      if (run.hasChanges) await writer.markChanged();
    },
  );
}

function checkLink(
  row: CheckedRow<z.output<z.ZodObject<typeof FIELDS>>>,
  seen: UuidPlaces,
): CheckedRow<Link> {
  if (row.value === undefined) return row;
  const { retailerId, dealId, template } = row.value;
  const domains = [...new Set(row.value.domains)].sort();
  const id = retailerId ?? dealId;
  if (id == null || (retailerId != null && dealId != null)) {
    return rejected(row.place, [{ field: '', reason: 'must have either retailerId or dealId' }]);
  }
  const kind = retailerId == null ? 'deal' : 'retailer';
  if (kind === 'deal' && domains.length > 0) {
    return rejected(row.place, [
      { field: 'domains', reason: 'must not be set for a deal, only for a retailer' },
    ]);
  }
  const first = seen.add(id, row.place);
  if (first !== undefined) {
    return rejected(row.place, [{ field: `${kind}Id`, reason: `was already used on ${printPlace(first)}` }]);
  }
  return { place: row.place, value: { id, kind, template, domains }, problems: undefined };
}
