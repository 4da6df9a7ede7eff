// The guides at /docs: rendering, links and search.

import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchEntry } from '@offerbook/site/browser/reference/find-entries.ts';
import { GUIDE_FILES, GUIDE_PATHS, renderGuides } from '@offerbook/site/docs/guides/guides.ts';
import { renderMarkdown } from '@offerbook/site/docs/guides/markdown.ts';
import { OPERATIONS } from '../../src/http/operations/operations.ts';
import { readDocuments } from '../../src/http/pages/embedded.ts';
import { TestNode } from '../support/test-node.ts';

const ROOT = join(import.meta.dir, '../../..');

const node = await TestNode.start();

afterAll(() => node[Symbol.asyncDispose]());

/** Responses by path, because every guide has the same navigation. */
const visited = new Map<string, { readonly status: number; readonly page: string }>();

async function visit(path: string) {
  const known = visited.get(path);
  if (known !== undefined) return known;
  const response = await node.get(path);
  const found = { status: response.status, page: await response.text() };
  visited.set(path, found);
  return found;
}

const hrefs = (page: string) => [...page.matchAll(/ href="([^"]+)"/g)].map(([, href = '']) => href);
const ids = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

test.each(GUIDE_PATHS)(
  '%s has one title, no skipped heading level and no duplicate id, and all its links and fragments exist',
  async (path) => {
    const { page } = await visit(path);
    const [, prose = ''] = page.split('<div class="prose">');
    const levels = [...prose.matchAll(/<h(\d)/g)].map(([, level]) => Number(level));
    expect(levels.filter((level) => level === 1)).toEqual([1]);
    for (const [i, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[i - 1] ?? 0) + 1);
    const allIds = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(allIds).toEqual([...new Set(allIds)]);
    for (const href of hrefs(page).filter((one) => !one.startsWith('http'))) {
      const [target = '', fragment] = href.split('#');
      const found = await visit(target === '' ? path : target);
      expect([href, found.status]).toEqual([href, 200]);
      if (fragment !== undefined) expect([href, ids(found.page).has(fragment)]).toEqual([href, true]);
    }
  },
);

test('every document for operators is a guide', async () => {
  const files = ['docs/operations', 'docs/feeds'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  expect(files.filter((file) => !GUIDE_FILES.includes(file))).toEqual([]);
});

test("samples and guides contain this server's port, even without scripts", async () => {
  const { port } = new URL(node.url);
  for (const path of ['/openapi.json', '/docs', '/docs/reference', '/docs/getting-started', '/docs/limits']) {
    const text = await (await node.get(path)).text();
    expect([path, text.includes(`http://localhost:${port}`), text.includes('localhost:8080')]).toEqual([
      path,
      true,
      false,
    ]);
  }
});

test('the search index contains every section of every guide and every operation', async () => {
  const index = (await (await node.get('/docs/search.json')).json()) as SearchEntry[];
  const urls = new Set(index.map(({ url }) => url));
  for (const { path, sections } of renderGuides(await readDocuments())) {
    for (const { id, level } of sections) expect(urls).toContain(level === 1 ? path : `${path}#${id}`);
  }
  for (const { id } of OPERATIONS) expect(urls).toContain(`/docs/reference#${id}`);
  // Excerpts contain no code. Code contains a sample address, which pages replace with the server's own.
  expect(index.filter(({ text }) => text.includes('http://localhost:')).map(({ url }) => url)).toEqual([]);
  // The index is small enough to be loaded as a whole.
  expect(Bun.gzipSync(JSON.stringify(index)).length).toBeLessThan(100_000);
});

test('the reference renders code spans and links to guides, and the search index contains plain text', async () => {
  const page = await (await node.get('/docs/reference')).text();
  expect(page.replaceAll(/<pre.*?<\/pre>/gs, '')).not.toContain('`');
  expect(page).toContain('<code>/v1/retailers/activate/?retailerId=…</code>');
  expect(page).toContain('<a href="/docs/polling#the-life-of-a-status">');
  const index = (await (await node.get('/docs/search.json')).json()) as SearchEntry[];
  expect(index.filter(({ page, text }) => page === 'Reference' && text.includes('`'))).toEqual([]);
});

test('every guide section that the OpenAPI document links to exists', async () => {
  const document = await (await node.get('/openapi.json')).text();
  const named = [...new Set(document.match(/\/docs\/[\w-]+(#[\w-]+)?/g))];
  expect(named).toContain('/docs/polling#the-life-of-a-status');
  for (const place of named) {
    const [path = '', fragment] = place.split('#');
    const page = await node.get(path);
    expect([place, page.status]).toEqual([place, 200]);
    if (fragment !== undefined) expect([place, ids(await page.text()).has(fragment)]).toEqual([place, true]);
  }
});

describe('rendering a document', () => {
  const render = (source: string) =>
    renderMarkdown(source, (target) => (target.startsWith('/') ? target : undefined));

  test('escapes HTML everywhere', () => {
    const bad = '<img src=x onerror=alert(1)>';
    const { body } = render(
      `# ${bad}\n\n${bad}\n\n- ${bad}\n\n| ${bad} |\n|---|\n| ${bad} |\n\n[${bad}](/x"onclick="y)\n\n\`${bad}\`\n\n\`\`\`sh\n${bad}\n\`\`\`\n`,
    );
    expect(body.text).not.toContain('<img');
    expect(body.text).not.toContain('"onclick');
  });

  test('renders links to files that are not served as plain text', () => {
    expect(render('see [that](../src/file.ts) and [this](/docs)').body.text).toBe(
      '<p>see that and <a href="/docs">this</a></p>\n',
    );
  });

  test('renders a sequence diagram as a list of steps', () => {
    const source = [
      '```mermaid',
      'sequenceDiagram',
      '  participant Y as Your server',
      '  participant O as Offerbook',
      '  Note over Y: W = 1',
      '  Y->>O: ask & <wait>',
      '  O-->>Y: page 1',
      '```',
    ].join('\n');
    expect(render(source).body.text).toBe(
      '<ol class="steps panel stack"><li class="muted">Your server: W = 1</li><li><strong>Your server → Offerbook</strong>: ask &amp; &lt;wait&gt;</li><li><strong>Offerbook → Your server</strong>: page 1</li></ol>',
    );
  });

  test('renders an empty column heading as a plain cell', () => {
    expect(render('| a | |\n|---|---|\n| 1 | 2 |\n').body.text).toContain('<th scope="col">a</th><td></td>');
  });

  test('adds the column heading to each cell', () => {
    expect(render('| a | `b` |\n|---|---|\n| 1 | 2 |\n').body.text).toContain(
      '<th scope="row">1</th><td data-label="b">2</td>',
    );
  });
});
