import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { digestToken, isLive, newTokenText, parseTokenKind } from '../../src/domain/access-token.ts';

describe('token strings', () => {
  test.each(['public', 'private'] as const)(
    'a %s token has its prefix, 30 random characters and a checksum',
    (kind) => {
      const text = newTokenText(kind);
      expect(text).toMatch(kind === 'public' ? /^ob_pub_[0-9A-Za-z]{36}$/ : /^ob_prv_[0-9A-Za-z]{36}$/);
      expect(parseTokenKind(text)).toBe(kind);
    },
  );

  test('tokens are unique and use all characters evenly', () => {
    const tokens = Array.from({ length: 5_000 }, () => newTokenText('public'));
    expect(new Set(tokens).size).toBe(5_000);
    const counts = Map.groupBy(
      tokens.flatMap((text) => [...text.slice(7, 37)]),
      (character) => character,
    );
    expect(counts.size).toBe(62);
    // 150,000 characters, 2,419 of each: six standard deviations either way.
    for (const [, { length }] of counts) expect(length).toBeWithin(2_127, 2_712);
  });

  test('one wrong character anywhere is detected without a lookup', () => {
    const text = newTokenText('private');
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...'0aZ_-é '), (position, character) => {
        fc.pre(text[position] !== character);
        expect(
          parseTokenKind(text.slice(0, position) + character + text.slice(position + 1)),
        ).toBeUndefined();
      }),
    );
  });

  test('two swapped characters are detected', () => {
    const text = newTokenText('public');
    for (let i = 7; i < text.length - 1; i++) {
      const swapped = text.slice(0, i) + text[i + 1] + text[i] + text.slice(i + 2);
      expect(parseTokenKind(swapped)).toBe(swapped === text ? 'public' : undefined);
    }
  });

  test('digestToken returns the SHA-256 digest', () => {
    expect(digestToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

test('a token is valid until it expires, its overlap ends or it is revoked, whatever the clocks show', () => {
  const token = { expiresAtMs: null, overlapEndsAtMs: null, revokedAtMs: null };
  expect([
    isLive(token, 100),
    isLive({ ...token, expiresAtMs: 101 }, 100),
    isLive({ ...token, expiresAtMs: 100 }, 100),
    isLive({ ...token, overlapEndsAtMs: 101 }, 100),
    isLive({ ...token, overlapEndsAtMs: 100 }, 100),
    isLive({ ...token, revokedAtMs: 100 }, 100),
    isLive({ ...token, revokedAtMs: 3_600_000 }, 100),
  ]).toEqual([true, true, false, true, false, false, false]);
});
