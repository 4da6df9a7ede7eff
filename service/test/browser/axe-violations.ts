// Checks a page with axe-core.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync(Bun.resolveSync('axe-core/axe.min.js', import.meta.dir), 'utf8');

interface AxeResults {
  readonly violations: readonly { id: string; help: string; nodes: readonly { html: string }[] }[];
}

/** Returns every rule that the page breaks, with the elements. Dark mode changes only colours, so only contrast is checked. */
export async function axeViolations(page: Page): Promise<string[]> {
  return [
    ...(await lightAxeViolations(page)),
    ...(await violations(page, 'dark', { runOnly: ['color-contrast'] })),
  ];
}

/** Like axeViolations, but in light mode only: for pages whose elements are checked in dark mode on another page. */
export async function lightAxeViolations(page: Page): Promise<string[]> {
  // The debugger evaluates this, so the page's Content-Security-Policy does not apply.
  await page.evaluate(AXE);
  return violations(page, 'light', { resultTypes: ['violations'] });
}

async function violations(page: Page, colorScheme: 'light' | 'dark', options: object): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  const results = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults;
  await page.emulateMedia({ colorScheme: null });
  return results.violations.map(
    ({ id, help, nodes }) =>
      `${colorScheme} mode: ${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}
