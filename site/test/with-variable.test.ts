import { expect, test } from 'bun:test';
import { withVariable } from '../src/browser/reference/with-variable.ts';
import { codeSamples } from '../src/docs/code-samples.ts';

const SAMPLE = {
  clientMethod: 'coupons',
  itemName: 'coupon',
  printedFields: ['id'],
  query: { limit: 100 },
};

test.each(['page', 'item'] as const)(
  'the samples for one %s contain the token and no unused import',
  (returns) => {
    const path = returns === 'page' ? '/v1/coupons/' : '/v1/coupons/{id}/';
    const samples = codeSamples({ path, returns, tokenKind: 'public', sample: SAMPLE });
    expect(samples).toHaveLength(returns === 'page' ? 7 : 2);
    for (const { label, source } of samples) {
      const filled = withVariable(source, 'OFFERBOOK_PUBLIC_TOKEN', 'ob_pub_1');
      expect([label, filled]).toEqual([label, expect.stringMatching(/Bearer ob_pub_1|["']ob_pub_1["']/)]);
      expect(filled).not.toMatch(/OFFERBOOK|\benv\b|\bos\b/);
    }
  },
);

test('a sample that uses an import for something else keeps it', () => {
  const [go] = codeSamples({
    path: '/v1/transactions/',
    returns: 'page',
    tokenKind: 'private',
    sample: SAMPLE,
  }).filter(({ label }) => label === 'Go');
  const filled = withVariable(go?.source ?? '', 'OFFERBOOK_PRIVATE_TOKEN', 'x');
  expect(filled).toContain('\t"os"\n');
  expect(filled).toContain('"Bearer "+"x"');
});
