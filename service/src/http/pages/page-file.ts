// Turns a page into a file, with headers that restrict what the page can do.

import { FAVICON_SVG, type Page } from '@offerbook/site/html-page.ts';
import { type StaticFile, staticFile } from '../content/static-file.ts';

export const FAVICON = staticFile(FAVICON_SVG, { 'Content-Type': 'image/svg+xml' });

export function pageFile(page: Page): StaticFile {
  return staticFile(page.text, pageHeaders(page));
}

export function pageHeaders({ hasScript, imageSources, submitsForms }: Page): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    ['img-src', "'self'", ...imageSources].join(' '),
    ...(hasScript ? ["script-src 'self'", "connect-src 'self'"] : []),
    "base-uri 'none'",
    `form-action ${submitsForms ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
    // No Trusted Types policy is allowed, so assigning a string to innerHTML throws.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
  };
}
