import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { ENVELOPE_START, envelopeEnd } from '../../src/domain/page.ts';
import { PageCache } from '../../src/http/page-cache.ts';
import type { Reply } from '../../src/http/reply.ts';
import { catalogue, query, START_MS, storeOf } from '../catalogue/arbitrary-catalogue.ts';
import { naivePage } from '../catalogue/naive-catalogue.ts';

test('whatever is asked for, how often and in whatever order, each answer is the page that was asked for', async () => {
  const steps = fc.array(query, { minLength: 1, maxLength: 5 }).chain((queries) =>
    fc.array(fc.tuple(fc.constantFrom(...queries), fc.constantFrom('gzip', undefined)), {
      minLength: 20,
      maxLength: 30,
    }),
  );
  await fc.assert(
    fc.asyncProperty(catalogue, steps, async (retailers, steps) => {
      const loaded = new Catalogue(storeOf(retailers), () => START_MS);
      await loaded.load();
      const cache = new PageCache();
      const answers = steps.map(([query, coding]) => {
        const page = cache.get(loaded.list('cashbackOffers'), query);
        const { whole } = page.as(coding);
        return {
          response: new Response(whole.body as Body, { headers: whole.headers }),
          cursor: page.cursor,
        };
      });
      for (const [index, { response, cursor }] of answers.entries()) {
        const [query, coding] = steps[index] ?? [];
        if (query === undefined) throw new Error('there are as many answers as steps');
        const expected = naivePage(retailers, 'cashbackOffers', START_MS, query);
        const body = new Uint8Array(await response.arrayBuffer());
        const text = new TextDecoder().decode(coding === undefined ? body : Bun.gunzipSync(body));
        expect(text).toBe(ENVELOPE_START + expected.items.join(',') + envelopeEnd(expected.cursor));
        expect(cursor).toBe(expected.cursor);
        expect(response.headers.get('Content-Encoding')).toBe(coding ?? null);
      }
    }),
    { numRuns: 200 },
  );
});

type Body = Exclude<Reply['body'], readonly unknown[]>;
