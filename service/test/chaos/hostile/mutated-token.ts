// Tokens that an attacker could derive from a valid one: changed, truncated, repeated, re-encoded, or with a correct checksum,
// so that only the look-up rejects them.

import fc from 'fast-check';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** A character that is allowed in a header, except spaces. */
const anyCharacter = fc
  .integer({ min: 0x21, max: 0xff })
  .filter((code) => code < 0x7f || code > 0xa0)
  .map((code) => String.fromCharCode(code));

type Mutation = (token: string) => string;

/** Changes at one or two positions. */
const EDITS: readonly ((token: string, at: number, character: string, other: number) => string)[] = [
  (token, at, character) => token.slice(0, at) + character + token.slice(at + 1),
  (token, at, character) => token.slice(0, at) + character + token.slice(at),
  (token, at) => token.slice(0, at) + token.slice(at + 1),
  (token, at) => token.slice(0, at),
  (token, at) => token.slice(at),
  (token, at) => token.slice(0, at) + swapCase(token[at] ?? '') + token.slice(at + 1),
  (token, at, _, other) => swapCharacters(token, at, other),
  // Not in the prefix or the checksum.
  (token, at, character) => {
    const place = 7 + (at % 30);
    const base62 = BASE62[character.charCodeAt(0) % BASE62.length];
    return withChecksum(token.slice(0, place) + base62 + token.slice(place + 1));
  },
];

const anyEdit: fc.Arbitrary<Mutation> = fc
  .tuple(fc.constantFrom(...EDITS), fc.nat(42), anyCharacter, fc.nat(42))
  .map(
    ([edit, at, character, other]) =>
      (token) =>
        edit(token, at, character, other),
  );

const anyMutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: EDITS.length, arbitrary: anyEdit },
  fc.constantFrom<Mutation>(
    (token) =>
      withChecksum(
        token.replace(/^ob_(pub|prv)_/, (prefix) => (prefix === 'ob_pub_' ? 'ob_prv_' : 'ob_pub_')),
      ),
    (token) => token.toUpperCase(),
    (token) => token.toLowerCase(),
    (token) => token + token,
    (token) => `${token},${token}`,
    (token) => `${token}, Bearer ${token}`,
    (token) => `"${token}"`,
    (token) => `Bearer ${token}`,
    (token) => `${token}%00`,
    (token) => `${token}=`,
    (token) => encodeURIComponent(token).replaceAll('_', '%5F'),
    (token) => Buffer.from(token).toString('base64'),
    (token) => Buffer.from(token).toString('hex'),
    (token) => [...token].reverse().join(''),
    (token) => Bun.CryptoHasher.hash('sha256', token, 'hex'),
    (token) => token.slice('ob_pub_'.length),
    (token) => token.padEnd(4_000, 'a'),
    (token) => `${token}' OR '1'='1`,
    () => '',
    () => 'null',
    () => '*',
  ),
);

/** A string derived from a valid token, but not equal to one. */
export function anyMutatedToken(good: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...good), fc.array(anyMutation, { minLength: 1, maxLength: 3 }))
    .map(([token, mutations]) => mutations.reduce((text, mutate) => mutate(text), token))
    .filter((text) => !good.includes(text.trim()));
}

export function withChecksum(text: string): string {
  const body = text.slice(0, -CHECKSUM_LENGTH);
  let rest = Bun.hash.crc32(body);
  let checksum = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    checksum = BASE62[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return body + checksum;
}

/** The token with a different last character, so that its checksum is wrong. */
export function withWrongChecksum(token: string): string {
  return `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
}

function swapCase(character: string): string {
  return character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
}

function swapCharacters(text: string, a: number, b: number): string {
  const characters = [...text];
  [characters[a], characters[b]] = [characters[b] ?? '', characters[a] ?? ''];
  return characters.join('');
}
