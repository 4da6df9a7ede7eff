import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Uuid, uuidWords } from '../src/uuid.ts';

test('uuidWords returns the digits of a UUID', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const hex = uuidWords(id as Uuid).map((word) => word.toString(16).padStart(8, '0'));
      expect(hex.join('')).toBe(id.replaceAll('-', ''));
    }),
  );
});
