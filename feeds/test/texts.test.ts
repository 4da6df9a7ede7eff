// Converting a network's HTML to plain text: markup is removed, everything else stays.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { joinTexts, plainText } from '../src/catalogue/texts.ts';
import { TEST_SEED } from './seed.ts';

describe('plainText', () => {
  test.each([
    ['a<b, c>d', 'a<b, c>d'],
    ['a <b and c> d', 'a <b and c> d'],
    ['a<hr noshade>b <li/ > c', 'ab c'],
    ['rate <10 %> of all', 'rate <10 %> of all'],
    ['write to <info@shop.example>', 'write to <info@shop.example>'],
    ['a tag that is never closed <p class="x', 'a tag that is never closed <p class="x'],
    ['<pp>, <b1> and <bold> are no elements', '<pp>, <b1> and <bold> are no elements'],
    ['  blanks\tstay \r\n as they are ', '  blanks\tstay \r\n as they are '],
    ['<p>Orders <€50: 2%</p><p>Orders >€50: 4%</p>', 'Orders <€50: 2%\nOrders >€50: 4%'],
    ['<P CLASS="a>b" title=\'c>d\' data-x>one</P\n>two', 'one\ntwo'],
    ['one<br>two<br/>three<br />four<BR clear=all>five', 'one\ntwo\nthree\nfour\nfive'],
    [
      '<h2>Terms</h2><ul><li>one</li> \n <li><b>t</b>wo</li></ul><div>  three\tfour </div>',
      'Terms\none\ntwo\nthree four',
    ],
    ['<a href="https://shop.example/?a=1&b=2">here</a>', 'here'],
    ['<!doctype html><!-- a <b> -- > c -->one<!-- two', 'one<!-- two'],
    ['<o:p>one</o:p>', 'one'],
  ])('%p becomes %p', (html, text) => {
    expect(plainText(html)).toBe(text);
  });

  test.each([
    ['&lt;b&gt; &amp;amp; &quot;&apos;&nbsp;&#65;&#x42;&#X1f600;', '<b> &amp; "\' AB\u{1f600}'],
    ['&unknown; &toString; &; &#; &#x; & b', '&unknown; &toString; &; &#; &#x; & b'],
    ['&#1114111;&#x10ffff;&#xd7ff;&#xe000;', '\u{10ffff}\u{10ffff}\u{d7ff}\u{e000}'],
    ['&#1114112; &#x110000; &#99999999999999999999;', '&#1114112; &#x110000; &#99999999999999999999;'],
    ['&#0; &#xd800; &#57343;', '&#0; &#xd800; &#57343;'],
  ])('entities: %p becomes %p', (html, text) => {
    expect(plainText(html)).toBe(text);
  });

  const anyText = fc
    .array(fc.constantFrom('<', '>', '/', '!', '-', '"', "'", '&', ';', ' ', '\n', '€', 'p', 'b', 'br', '5'))
    .map((parts) => parts.join(''));
  /** True if a browser could parse a tag, a comment or an entity. */
  const mayBeMarkup = (text: string) => /<[!/a-z]|&[#a-z]/i.test(text);

  test('returns text without tags unchanged', () => {
    let withSigns = 0;
    fc.assert(
      fc.property(
        fc.oneof(anyText, fc.string({ unit: 'binary' })).filter((text) => !mayBeMarkup(text)),
        (text) => {
          expect(plainText(text)).toBe(text);
          if (/[<>]/.test(text)) withSigns++;
        },
      ),
      { numRuns: 500, seed: TEST_SEED },
    );
    expect(withSigns).toBeGreaterThan(75);
  });

  test('removes tags and keeps all text between them', () => {
    const word = fc
      .array(fc.constantFrom('<', '>', '€', '5', '<€', '<5', '=', '-'), { maxLength: 5 })
      .map((parts) => parts.join(''));
    const tag = fc.constantFrom(
      '<b>',
      '</b>',
      '<i class="a>b">',
      "<a href='<b>'>",
      '<span/>',
      '<!-- <i> -->',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(word, tag), { minLength: 1 }), (parts) => {
        const text = parts.map(([words]) => words).join('');
        expect(plainText(parts.flat().join(''))).toBe(text);
      }),
      { numRuns: 1_000, seed: TEST_SEED },
    );
  });

  test.each(['<', '<p ', '<p "', `<p '"' "`, '<!--', '<!doctype ', '</', '&', '\n', ' '])(
    'reads 200,000 repetitions of %p in linear time',
    (part) => {
      expect(plainText(`<b>${part.repeat(200_000)}x`)).toEndWith('x');
    },
  );
});

test('joinTexts leaves out empty and repeated parts', () => {
  expect(joinTexts('10% off', undefined, ' ', 'On bulbs ', '10% off')).toBe('10% off: On bulbs');
  expect(joinTexts(undefined, '')).toBe('');
});
