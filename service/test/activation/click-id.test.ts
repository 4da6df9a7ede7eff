import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ClickIds } from '../../src/activation/click-id.ts';
import { BASE62, parseBase62 } from '../../src/domain/base62.ts';
import { type ClickId, firstClickIdAt } from '../../src/domain/click.ts';

const KEY = 'a key of the test';
const NOW_MS = Date.UTC(2026, 10, 15, 12);
const momentMs = fc.integer({ min: 0, max: Date.UTC(2081, 0) });
const orgId = fc.integer({ min: 1, max: 62 ** 3 - 1 });

describe('click ids', () => {
  test('a click id has 22 letters and digits and contains its organisation and time', () => {
    fc.assert(
      fc.property(orgId, momentMs, (org, atMs) => {
        const id = new ClickIds(KEY).make(org, atMs);
        expect(id).toMatch(/^[0-9A-Za-z]{22}$/);
        expect(new ClickIds(KEY).parse(id)).toEqual({ id, orgId: org, atMs });
      }),
    );
  });

  test('click ids sort by time, and firstClickIdAt() separates earlier ids from later ones', () => {
    fc.assert(
      fc.property(orgId, orgId, momentMs, momentMs, (oneOrg, otherOrg, a, b) => {
        fc.pre(a !== b);
        const [earlierMs, laterMs] = a < b ? [a, b] : [b, a];
        const earlier = new ClickIds(KEY).make(oneOrg, earlierMs);
        const later = new ClickIds(KEY).make(otherOrg, laterMs);
        expect(earlier < later).toBeTrue();
        expect(earlier < firstClickIdAt(laterMs)).toBeTrue();
        expect(firstClickIdAt(laterMs) < later).toBeTrue();
      }),
    );
  });

  test('click ids are numbered consecutively within a millisecond, starting at random', () => {
    const ids = new ClickIds(KEY);
    const number = (atMs: number) => parseBase62(ids.make(1, atMs).slice(10, 15));
    const numbers = Array.from({ length: 100 }, () => number(NOW_MS));
    const [first = 0] = numbers;
    expect(numbers).toEqual(numbers.map((_, i) => (first + i) % 62 ** 5));
    expect(number(NOW_MS + 1)).not.toBe((first + 100) % 62 ** 5);
  });

  test('a click id is rejected if any single character is changed', () => {
    const id = new ClickIds(KEY).make(7, NOW_MS);
    const place = fc.integer({ min: 0, max: id.length - 1 });
    fc.assert(
      fc.property(place, fc.constantFrom(...BASE62), (at, character) => {
        fc.pre(id[at] !== character);
        const changed = id.slice(0, at) + character + id.slice(at + 1);
        expect(new ClickIds(KEY).parse(changed)).toBeUndefined();
      }),
    );
  });

  test('a click id is rejected if it has a different key, a different length or invalid characters', () => {
    const ids = new ClickIds(KEY);
    const id = ids.make(7, NOW_MS);
    for (const text of [
      '',
      id.slice(1),
      `${id}0`,
      ` ${id}`,
      `${id}\n`,
      id.replace(/.$/, '-'),
      '🙂'.repeat(11),
    ]) {
      expect(ids.parse(text)).toBeUndefined();
    }
    expect(new ClickIds('another key').parse(id)).toBeUndefined();
    expect(ids.parse(id)?.id).toBe(id as ClickId);
  });

  test('a click id cannot be created for a time or an organisation that is out of range', () => {
    const ids = new ClickIds(KEY);
    expect(() => ids.make(62 ** 3, NOW_MS)).toThrow(RangeError);
    expect(() => ids.make(1, 62 ** 7)).toThrow(RangeError);
    expect(() => ids.make(1, -1)).toThrow(RangeError);
  });
});
