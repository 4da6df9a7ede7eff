// Reads a page of a list view as JSON strings, for comparison.

import { expect } from 'bun:test';
import { printJson } from '@offerbook/wire/decimal.ts';
import type { CatalogueQuery, ListView } from '../../src/catalogue/list-view.ts';
import { ENVELOPE_START, envelopeEnd } from '../../src/domain/page.ts';
import type { TextPage } from './naive-catalogue.ts';

/** Fails unless the page's bytes equal the list envelope with these items, as printJson() formats them. */
export function readPage(view: ListView, query: CatalogueQuery): TextPage {
  const { bytes, cursor } = view.page(query);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const { data } = JSON.parse(text) as { data: unknown[] };
  const items = data.map((item) => printJson(item));
  expect(text).toBe(ENVELOPE_START + items.join(',') + envelopeEnd(cursor));
  return { items, cursor };
}
