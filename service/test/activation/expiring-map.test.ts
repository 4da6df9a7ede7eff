import { expect, test } from 'bun:test';
import { ExpiringMap } from '../../src/activation/expiring-map.ts';

test('an entry expires at the end of its lifetime, or if the clock is set back by at least its lifetime', () => {
  const recent = new ExpiringMap<string>(10);
  recent.add('key', 100, 'value');
  const found = [90, 91, 109, 110].map((nowMs) => recent.find('key', nowMs));
  expect(found).toEqual([undefined, 'value', 'value', undefined]);
});

test('delete() keeps a value that has replaced the given value', () => {
  const recent = new ExpiringMap<string>(10);
  recent.add('key', 100, 'second');
  recent.delete('key', 'first');
  expect(recent.find('key', 100)).toBe('second');
  recent.delete('key', 'second');
  expect(recent.find('key', 100)).toBeUndefined();
});
