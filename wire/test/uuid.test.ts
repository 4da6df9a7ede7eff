import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Uuid, uuidWords } from '../src/uuid.ts';

const anyUuid = fc.uuid().map((text) => text as Uuid);

test('uuidWords returns the digits of a UUID', () => {
  fc.assert(
    fc.property(anyUuid, (id) => {
      const hex = uuidWords(id).map((word) => word.toString(16).padStart(8, '0'));
      expect(hex.join('')).toBe(id.replaceAll('-', ''));
    }),
  );
});

test('uuidWords sort in the same order as the UUID strings', () => {
  const near = fc
    .tuple(anyUuid, fc.nat(35), fc.constantFrom(...'0123456789abcdef'))
    .map(([id, at, digit]) => ({
      a: id,
      b: (id[at] === '-' ? id : id.slice(0, at) + digit + id.slice(at + 1)) as Uuid,
    }));
  fc.assert(
    fc.property(fc.oneof(near, fc.record({ a: anyUuid, b: anyUuid })), ({ a, b }) => {
      const [left, right] = [uuidWords(a), uuidWords(b)];
      const word = left.findIndex((value, index) => value !== right[index]);
      const difference = word < 0 ? 0 : (left[word] as number) - (right[word] as number);
      expect(Math.sign(difference)).toBe(a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});
