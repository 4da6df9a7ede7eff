// Checks a page with axe-core.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8');

interface AxeResults {
  readonly violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
}

/** Returns every rule that the page breaks, with the elements. site/test/contrast.test.ts checks the contrast of colours. */
export async function axeViolations(page: Page): Promise<string[]> {
  // The debugger evaluates this, so the page's Content-Security-Policy does not apply.
  await page.evaluate(AXE);
  const options = { resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults;
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}
