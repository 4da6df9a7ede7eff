// The overlay: the operator's CSV file with data that is missing or wrong in the network's files, keyed by the network's
// advertiser id.

import { BadInput } from '@offerbook/wire/failures.ts';
import { CsvCutter, type CsvRecord } from '@offerbook/wire/rows/csv-records.ts';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { checkRow } from '@offerbook/wire/rows/row-problem.ts';
import { countryCode, fraction, webUrl } from '@offerbook/wire/scalars.ts';
import { z } from 'zod';
import { FEED_LIMITS } from '../formats/feed-row.ts';
import type { Source } from './source-file.ts';

const country = countryCode('Country', 'DE');
const SHARE_RANGE = 'must be between 0 and 1';

const entrySchema = z.object({
  logo: webUrl('Logo', 'https://shop.example/logo.svg').optional(),
  category: z.string().optional(),
  countries: z
    .string()
    .transform((text) => text.split(/\s+/))
    .refine((codes) => codes.every((code) => country.safeParse(code).success), {
      error: 'must be codes of two capital letters, separated by spaces',
    })
    .optional(),
  featured: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional(),
  share: z
    .string()
    .regex(/^\d(?:\.\d+)?$/, SHARE_RANGE)
    .transform(Number)
    .pipe(fraction('Share', 0.7))
    .optional(),
});

export type OverlayEntry = z.output<typeof entrySchema>;
export type Overlay = ReadonlyMap<string, OverlayEntry>;

const COLUMNS = ['advertiserId', ...Object.keys(entrySchema.shape)];

/** Throws a BadInput with one line per mistake. */
export function parseOverlay(text: string, fileName: string, source: Source): Overlay {
  const mistakes: string[] = [];
  const overlay = new Map<string, OverlayEntry>();
  const [header, ...records] = parseRecords(text, fileName);
  const columns = (header?.cells ?? []).map((name) => name.trim());
  for (const name of columns) {
    if (!COLUMNS.includes(name))
      mistakes.push(`line 1: ${JSON.stringify(name)} is not one of ${COLUMNS.join(', ')}`);
  }
  if (!columns.includes('advertiserId')) mistakes.push('line 1: the column advertiserId is missing');
  for (const { line, cells, problem } of records) {
    const fail = (column: string, reason: string) => mistakes.push(`line ${line}: ${column} ${reason}`);
    const row = Object.fromEntries(columns.map((name, index) => [name, cells[index]?.trim() || undefined]));
    const id = row.advertiserId;
    if (problem !== undefined) fail('the row', problem.reason);
    else if (id === undefined) fail('advertiserId', 'is missing');
    else if (overlay.has(id)) fail('advertiserId', `${id} appears twice`);
    else {
      const { value, problems } = checkRow({ place: { line }, value: row }, entrySchema);
      for (const { field, reason } of problems ?? []) fail(field, reason);
      overlay.set(id, value ?? {});
      if (row.share !== undefined && Object.hasOwn(source.share.advertisers, id)) {
        fail('share', `of ${id} is also in the source file`);
      }
    }
  }
  if (mistakes.length > 0)
    throw new BadInput(mistakes.map((mistake) => `${fileName}, ${mistake}`).join('\n'));
  return overlay;
}

function parseRecords(text: string, fileName: string): readonly CsvRecord[] {
  const cutter = new CsvCutter(',', FEED_LIMITS);
  try {
    return [...cutter.push(Buffer.from(text.replace(/^\ufeff/, ''))), ...cutter.end()];
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    const { place, problem } = error;
    throw new BadInput(`${fileName}, line ${place.line}: ${problem.field || 'the row'} ${problem.reason}`);
  }
}
