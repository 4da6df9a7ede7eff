// The minimum that a server can do, as a baseline: sends a fixed body, a page of documents from Offerbook's
// SQLite database, a redirect, or a 304. It has no tokens, log, compression or search.
//   bun bare.ts body FILE PORT
//   bun bare.ts unchanged TAG PORT
//   bun bare.ts transactions DATABASE PORT
//   bun bare.ts redirect URL PORT

import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';

const [what = '', path = '', port = ''] = process.argv.slice(2);

const modes: Record<string, () => (request: Request) => Response> = {
  body() {
    const body = new Blob([readFileSync(path)]);
    const headers = new Headers({ 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
    return () => new Response(body, { headers });
  },
  unchanged() {
    const headers = new Headers({ ETag: path, Vary: 'Authorization, Accept-Encoding' });
    return () => new Response(null, { status: 304, headers });
  },
  redirect() {
    const headers = new Headers({ Location: path, 'Cache-Control': 'no-store' });
    return () => new Response(null, { status: 302, headers });
  },
  transactions() {
    const find = new Database(path, { readonly: true }).prepare(
      'SELECT document FROM transactions WHERE (org_id, id) >= (1, ?1) AND org_id <= 1 ORDER BY org_id, id LIMIT 101',
    );
    return (request) => {
      const id = request.url.slice(request.url.indexOf('cursor=') + 'cursor='.length);
      const cursor = Buffer.from(id.replaceAll('-', ''), 'hex');
      const documents = (find.values(cursor) as [string][]).slice(0, 100);
      return new Response(`{"data":[${documents.join(',')}]}`, {
        headers: { 'Content-Type': 'application/json' },
      });
    };
  },
};

const mode = modes[what];
if (mode === undefined) throw new Error(`unknown mode "${what}"`);
Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: mode() });
