// The overlay: the operator's CSV file with data that the network lacks or has wrong, keyed by the network's advertiser id.

import { BadInput } from '@offerbook/wire/failures.ts';
import { CsvCutter, type CsvRecord } from '@offerbook/wire/rows/csv-records.ts';
import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';
import { countryCode, fraction, webUrl } from '@offerbook/wire/scalars.ts';
import { FEED_LIMITS } from '../formats/feed-row.ts';
import type { Source } from './source-file.ts';

export interface OverlayEntry {
  readonly logo?: string | undefined;
  readonly category?: string | undefined;
  readonly countries?: readonly string[] | undefined;
  readonly featured?: boolean | undefined;
  readonly share?: number | undefined;
}

export type Overlay = ReadonlyMap<string, OverlayEntry>;

const COLUMNS = ['advertiserId', 'logo', 'category', 'countries', 'featured', 'share'];
const URL_SCHEMA = webUrl('Logo', 'https://shop.example/logo.svg');
const COUNTRY_SCHEMA = countryCode('Country', 'DE');
const SHARE_SCHEMA = fraction('Share', 0.7);

/** Throws a BadInput with one line per mistake. Countries share one cell, separated by spaces. */
export function parseOverlay(text: string, fileName: string, source: Source): Overlay {
  const mistakes: string[] = [];
  const overlay = new Map<string, OverlayEntry>();
  const [header, ...rows] = parseRecords(text, fileName);
  const columns = (header?.cells ?? []).map((name) => name.trim());
  for (const name of columns) {
    if (!COLUMNS.includes(name))
      mistakes.push(`line 1: ${JSON.stringify(name)} is none of ${COLUMNS.join(', ')}`);
  }
  if (!columns.includes('advertiserId')) mistakes.push('line 1: there is no column advertiserId');
  for (const { line, cells, problem } of rows) {
    const fail = (column: string, reason: string) => mistakes.push(`line ${line}: ${column} ${reason}`);
    const cell = (column: string) => cells[columns.indexOf(column)]?.trim() || undefined;
    const id = cell('advertiserId');
    if (problem !== undefined) fail('the row', problem.reason);
    else if (id === undefined) fail('advertiserId', 'is missing');
    else if (overlay.has(id)) fail('advertiserId', `${id} appears twice`);
    else {
      overlay.set(id, readEntry(cell, fail));
      if (cell('share') !== undefined && Object.hasOwn(source.share.advertisers, id)) {
        fail('share', `of ${id} is also in the source file`);
      }
    }
  }
  if (mistakes.length > 0)
    throw new BadInput(mistakes.map((mistake) => `${fileName}, ${mistake}`).join('\n'));
  return overlay;
}

function readEntry(
  cell: (column: string) => string | undefined,
  fail: (column: string, reason: string) => void,
): OverlayEntry {
  const logo = cell('logo');
  if (logo !== undefined && !URL_SCHEMA.safeParse(logo).success) {
    fail('logo', 'must be a URL that starts with http:// or https://');
  }
  const countries = cell('countries')?.split(/\s+/);
  for (const country of countries ?? []) {
    if (!COUNTRY_SCHEMA.safeParse(country).success) {
      fail('countries', 'must be codes of two capital letters with spaces between them');
    }
  }
  const featured = cell('featured');
  if (featured !== undefined && featured !== 'true' && featured !== 'false') {
    fail('featured', 'must be true or false');
  }
  const share = cell('share');
  if (
    share !== undefined &&
    !(/^\d(?:\.\d+)?$/.test(share) && SHARE_SCHEMA.safeParse(Number(share)).success)
  ) {
    fail('share', 'must be between 0 and 1');
  }
  return {
    logo,
    category: cell('category'),
    countries,
    featured: featured === undefined ? undefined : featured === 'true',
    share: share === undefined ? undefined : Number(share),
  };
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
