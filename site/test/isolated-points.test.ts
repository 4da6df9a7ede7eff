import { expect, test } from 'bun:test';
import { isolatedPoints } from '../src/browser/console/isolated-points.ts';

test('a number is isolated if there is a gap or an end on both sides', () => {
  expect(isolatedPoints([5, null, 5, 5, null, 0, null, 5])).toEqual([0, 5, 7]);
  expect(isolatedPoints([5])).toEqual([0]);
  expect(isolatedPoints([5, 5])).toEqual([]);
});
