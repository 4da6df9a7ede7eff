// Checks a page with axe-core.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8');

interface AxeResults {
  readonly violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
}

/**
 * Returns every rule that the page breaks, with the elements. The contrast of colours takes long, so only the long tests check
 * it; site/test/contrast.test.ts checks the colours themselves.
 */
export async function axeViolations(
  page: Page,
  rules: 'all' | 'all but contrast' = 'all but contrast',
): Promise<string[]> {
  // The debugger evaluates this, so the page's Content-Security-Policy does not apply.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const options = {
    resultTypes: ['violations'],
    ...(rules === 'all but contrast' ? { rules: { 'color-contrast': { enabled: false } } } : {}),
  };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}
