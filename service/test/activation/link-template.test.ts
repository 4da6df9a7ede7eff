import { describe, expect, test } from 'bun:test';
import { templateProblem } from '@offerbook/wire/link-template.ts';
import fc from 'fast-check';
import { fillTemplate } from '../../src/activation/activation.ts';
import { ClickIds } from '../../src/activation/click-id.ts';

const CLICK = new ClickIds('a key of the test').make(1, Date.UTC(2026, 10, 15));

/** Parts of templates, including some that could change the URL's host. */
const WORDS =
  'https:// http:// // / \\ @ : ? # . % {click} {url} { } {x} network.example evil.example a 443 &u= ü [::1] javascript:';
const piece = fc.constantFrom('\t', ' ', ...WORDS.split(' '));
const anyTemplate = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.array(piece, { maxLength: 8 }).map((pieces) => `https://network.example/${pieces.join('')}`),
  fc.string({ unit: 'binary' }),
);

describe('link templates', () => {
  const START = 'must start with https://, a host without user information, and a path';
  test.each([
    ['https://network.example/click?sub={click}', undefined],
    ['https://network.example/click?sub={click}&url={url}', undefined],
    ['HTTPS://network.example:8443/{click}', undefined],
    ['http://network.example/?s={click}', START],
    ['https://{click}.network.example/', START],
    ['https://network.example', START],
    ['https://user@network.example/{click}', START],
    ['https://network.example\\@evil.example/{click}', START],
    ['{url}?s={click}', START],
    ['', START],
    ['https://network.example/', 'must contain {click} exactly once, not 0 times'],
    ['https://network.example/{click}/{click}', 'must contain {click} exactly once, not 2 times'],
    ['https://network.example/{click}?{url}{url}', 'must contain {url} at most once'],
    ['https://network.example/{click}?u={user}', 'must not contain braces except in {click} and {url}'],
    ['https://network.example/{{click}}', 'must not contain braces except in {click} and {url}'],
    ['https://network.example/{click}?a=b c', 'must not contain spaces or control characters'],
    ['https://network.example/{click}\u0000', 'must not contain spaces or control characters'],
    ['https://:99999/{click}', 'must be a URL'],
    [`https://network.example/{click}${'a'.repeat(4_096)}`, 'must have at most 4096 characters'],
  ])('%p', (template, problem) => {
    expect(templateProblem(template)).toBe(problem as never);
  });

  test('a link template redirects to its own host, regardless of the URL in the catalogue', () => {
    fc.assert(
      fc.property(anyTemplate, fc.string({ unit: 'binary' }), (template, url) => {
        fc.pre(templateProblem(template) === undefined);
        // Neither URLs nor the database can represent a lone surrogate.
        fc.pre(url.isWellFormed());
        const filled = fillTemplate(template, CLICK, url);
        const named = new URL(template.slice(0, template.indexOf('{')).replace(/[^/?#]*$/, ''));
        expect(new URL(filled).origin).toBe(named.origin);
        expect(filled).toContain(CLICK);
        expect(new URL(filled)).toMatchObject({ protocol: 'https:', username: '', password: '' });
      }),
    );
  });

  test('a link template is filled with the click id and the percent-encoded URL, including dollar signs', () => {
    expect(
      fillTemplate('https://n.example/?u={url}&s={click}', CLICK, "https://a.example/?q=1&r=$&$'#x"),
    ).toBe(`https://n.example/?u=https%3A%2F%2Fa.example%2F%3Fq%3D1%26r%3D%24%26%24'%23x&s=${CLICK}`);
  });
});
