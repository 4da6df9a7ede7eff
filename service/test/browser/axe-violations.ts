// Checks a page with axe-core.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8');

interface AxeResults {
  readonly violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
}

/** Every rule that the page breaks, with the elements that break it. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's own policy does not concern.
  await page.evaluate(AXE);
  const results = (await page.evaluate('axe.run()')) as AxeResults;
  return results.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}
