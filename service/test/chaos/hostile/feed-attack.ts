// Converts mutated files of each network. Every conversion must end in time, print only rows that an import accepts, and report
// the line and the problem of every other row.

import { ConversionFailed } from '@offerbook/feeds/convert-run.ts';
import type { NetworkName } from '@offerbook/feeds/source/source-file.ts';
import { RetailerSchema } from '@offerbook/wire/catalogue.ts';
import { transactionRowSchema } from '@offerbook/wire/transaction.ts';
import fc from 'fast-check';
import { FEED_NAMES, FEEDS } from '../../../../feeds/test/any-feed.ts';
import {
  awinFiles,
  cjFiles,
  fullOverlay,
  impactFiles,
  partnerizeFiles,
  rakutenFiles,
} from '../../../../feeds/test/catalogues.ts';
import { type Conversion, convertSales, convertShops, sourceFor } from '../../../../feeds/test/fixture.ts';
import type { Run } from '../report/run.ts';
import { type Damage, damaged, someDamage } from './any-file.ts';
import { type Extent, newOutcomes, outcomeOf, rejectionOf, reportOutcomes } from './file-outcomes.ts';

const MESSAGES = {
  place: /^.+, line \d+(?: \(item \d+\))?(?:, id .*)?: ./,
  whole: /^the files contain realtime and batch rows|^a page of --/,
};
const ROW_SCHEMA = transactionRowSchema('refuse', 'ignore');

const CATALOGUES: Readonly<Partial<Record<NetworkName, Readonly<Record<string, string>>>>> = {
  awin: awinFiles,
  impact: impactFiles,
  partnerize: partnerizeFiles,
  cj: cjFiles,
  rakuten: rakutenFiles,
};

const TABLE = {
  transactions: {
    fields: {
      id: 'id',
      advertiserId: { constant: 'shop' },
      status: { column: 'state', trim: true, lower: true, words: { open: 'PENDING', paid: 'CONFIRMED' } },
      soldAt: { column: 'date', date: 'DD.MM.YYYY HH:mm', timeZone: 'Europe/Berlin' },
      currency: { constant: 'EUR' },
      orderValue: { column: 'total', number: 'comma' },
      commission: 'commission',
      subId: 'ref',
    },
  },
};
const TABLE_FILE = [
  'id,state,date,total,commission,ref',
  'A-1,open,14.11.2026 13:00,"1.081,00",4.05,user-1',
  'A-2,Paid ,29.03.2026 03:00,"81,5",4,"user ""2"""',
  'A-3,open,01.01.2026 00:00,1,0.1,',
].join('\n');

export async function attackWithFeeds(run: Run, extent: Extent): Promise<void> {
  for (const name of [...FEED_NAMES, 'table'] as const) await attackWith(name, run, extent);
}

/** Half of the files contain transactions, and the other half, if the network has catalogues, parts of a catalogue. */
async function attackWith(name: NetworkName, run: Run, extent: Extent): Promise<void> {
  const outcomes = newOutcomes();
  const source = sourceFor(name, { country: 'DE', ...(name === 'table' ? TABLE : {}) });
  const anySales = fc
    .record({ text: anySalesFile(name), damages: someDamage, skipInvalid: fc.boolean() })
    .map(({ text, damages, skipInvalid }) => ({
      convert: () => convertSales(source, damage(text, damages), { skipInvalid }),
      schema: ROW_SCHEMA,
    }));
  const catalogue = CATALOGUES[name] ?? {};
  const anyShop = fc
    .record({
      file: fc.constantFrom(...Object.keys(catalogue), 'none'),
      damages: someDamage,
      skipInvalid: fc.boolean(),
    })
    .map(({ file, damages, skipInvalid }) => {
      const bad = new TextDecoder().decode(damage(catalogue[file] ?? '', damages));
      const given = { ...catalogue, ...(file === 'none' ? {} : { [file]: bad }) };
      return {
        convert: () => convertShops(source, given, { skipInvalid, overlay: fullOverlay }),
        schema: RetailerSchema,
      };
    });
  await fc.assert(
    fc.asyncProperty(
      name === 'table' ? anySales : fc.oneof(anySales, anyShop),
      async ({ convert, schema }) => {
        const outcome = await outcomeOf(convert());
        if (outcome instanceof Error) outcomes[rejectionOf(outcome, ConversionFailed, MESSAGES)] += 1;
        else {
          requireImportable(outcome, schema);
          outcomes[outcome.rows.length > 0 ? 'accepted' : 'empty'] += 1;
        }
      },
    ),
    extent,
  );
  reportOutcomes(run, name, outcomes);
}

function anySalesFile(name: NetworkName): fc.Arbitrary<string> {
  if (name === 'table') return fc.constant(TABLE_FILE);
  const { row, shapes } = FEEDS[name];
  return fc
    .record({ rows: fc.array(row, { minLength: 1, maxLength: 5 }), shape: fc.nat(shapes.length - 1) })
    .map(({ rows, shape }) => shapes[shape]?.(rows) ?? '');
}

function damage(text: string, damages: readonly Damage[]): Uint8Array {
  return damages.reduce<Uint8Array>(damaged, Buffer.from(text));
}

function requireImportable(
  { rows, report: told }: Conversion,
  schema: { safeParse(value: unknown): { success: boolean; error?: unknown } },
): void {
  if (told.written !== rows.length) throw new Error('the counts do not add up');
  const ids = new Set(rows.map((row) => row.id));
  if (ids.size !== rows.length) throw new Error('an id was printed twice');
  for (const row of rows) {
    const { success, error } = schema.safeParse(row);
    if (!success) throw new Error(`printed what no import takes: ${JSON.stringify(row)}`, { cause: error });
  }
}
