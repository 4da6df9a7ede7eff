// The frame of the service's own pages. Their text is ours; whatever else goes in must be escaped first.

import type { Reply } from './reply.ts';

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:56rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem}code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{overflow-x:auto;padding:1rem;border:1px solid;border-radius:.5rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}`;

const STYLE_HASH = Bun.CryptoHasher.hash('sha256', STYLE, 'base64');

export function htmlPage(title: string, body: string): Reply {
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'public, max-age=300',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'X-Content-Type-Options': 'nosniff',
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)} · Offerbook</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`,
  };
}

export function escapeHtml(text: string): string {
  return Bun.escapeHTML(text);
}
