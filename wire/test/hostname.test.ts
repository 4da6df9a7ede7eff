import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseHostname } from '../src/hostname.ts';
import { parseSiteDomain } from '../src/site-domain.ts';

describe('a hostname', () => {
  test.each([
    ['shop.example', 'shop.example'],
    ['WWW.Shop.Example', 'www.shop.example'],
    ['shop.example.', 'shop.example'],
    ['shop.example:8443', 'shop.example'],
    ['shop.example.:443', 'shop.example'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['straße.de', 'xn--strae-oqa.de'],
    ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
    ['نامه‌ای.example', 'xn--mgba3gch31f060k.example'],
    ['my_shop.example', 'my_shop.example'],
    ['localhost', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    [`${'x'.repeat(63)}.example`, `${'x'.repeat(63)}.example`],
    [`${'x.'.repeat(126)}x`, `${'x.'.repeat(126)}x`],
  ])('%s is read as %s', (written, hostname) => {
    expect(parseHostname(written)).toBe(hostname);
  });

  test.each<string[]>([
    ['an empty label', '', '.', '.shop.example', 'shop..example', 'shop.example..'],
    ['a part of a URL', 'https://shop.example', 'shop.example/', 'shop.example?x', 'user@shop.example'],
    ['an invalid port', 'shop.example:', 'shop.example:http', 'shop.example:443:443'],
    ['white space or a NUL', 'sh op.example', ' shop.example', 'shop.example\n', 'shop.example\0'],
    ['another character', 'shop%2eexample', '[::1]', 'shop\\example', 'shop,example'],
    ['a number at its end', 'foo.1'],
    ['too many bytes', `${'x'.repeat(64)}.example`, `${'x.'.repeat(126)}xx`, `${'ü'.repeat(60)}.example`],
    ['invalid Punycode', 'xn--a.example'],
  ])('a text with %s is not a hostname', (_what, ...texts) => {
    for (const text of texts) expect([text, parseHostname(text)]).toEqual([text, undefined]);
  });

  test('parsing a parsed hostname again returns the same hostname', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ unit: fc.constantFrom(...'aZ0-_.:/@ü。'), maxLength: 30 }),
    );
    fc.assert(
      fc.property(text, (written) => {
        const hostname = parseHostname(written);
        if (hostname === undefined) return;
        expect(hostname).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/);
        expect(parseHostname(hostname)).toBe(hostname);
      }),
    );
  });
});

describe("the domain of a retailer's site", () => {
  test.each([
    ['www.shop.example', 'shop.example'],
    ['WWW.SHOP.example.', 'shop.example'],
    ['www.shop.co.uk', 'shop.co.uk'],
    ['shop.myshopify.com', 'shop.myshopify.com'],
    ['www.myshopify.com', 'www.myshopify.com'],
    ['www.com', 'www.com'],
    ['www.www.com', 'www.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['shop.公司.cn', 'shop.xn--55qx5d.cn'],
  ])('the domain of %s is %s', (hostname, domain) => {
    expect(parseSiteDomain(hostname)).toBe(domain);
  });

  test.each<string[]>([
    ['a public suffix', 'co.uk', 'com', 'myshopify.com', 'github.io', 'xn--p1ai', '公司.cn'],
    ['a local name or an address', 'localhost', '10.0.0.1'],
    ['not a hostname', 'no host', ''],
  ])('%s has no domain', (_what, ...hostnames) => {
    for (const hostname of hostnames)
      expect([hostname, parseSiteDomain(hostname)]).toEqual([hostname, undefined]);
  });
});
