import { expect, test } from 'bun:test';
import { findOrganisation } from '../../src/console/page-context.ts';
import { id } from '../support/fixtures.ts';

const ORGANISATIONS = [
  { id: 1, name: 'MID', publicId: id(1) },
  { id: 2, name: 'mid', publicId: id(2) },
  { id: 3, name: 'Shop', publicId: id(3) },
  // A name from before such names were rejected.
  { id: 4, name: id(6), publicId: id(5) },
  { id: 5, name: 'last', publicId: id(6) },
].map((org) => ({ ...org, createdAtMs: 0 }));

test.each<[string, string | null, number | undefined]>([
  ['an id', id(3), 3],
  ['an id in capital letters', id(3).toUpperCase(), 3],
  ["an id that is also another organisation's name", id(6), 5],
  ['an exact name', 'mid', 2],
  ['another exact name that differs only in case', 'MID', 1],
  ['a name in another case', 'sHOP', 3],
  ['an ambiguous name in another case', 'Mid', undefined],
  ['an unknown name', 'shops', undefined],
  ['nothing', null, undefined],
])('the console finds an organisation by %s', (_, text, found) => {
  expect(findOrganisation(ORGANISATIONS, text)?.id).toBe(found);
});
