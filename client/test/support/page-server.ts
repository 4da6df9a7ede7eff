// Serves a page and modules bundled from TypeScript to a browser.

export interface PageServer extends AsyncDisposable {
  readonly url: string;
}

/** Bundles an HTML or TypeScript entry point and serves the result. */
export async function servePage(entrypoint: string): Promise<PageServer> {
  const { outputs } = await Bun.build({ entrypoints: [entrypoint], target: 'browser', format: 'esm' });
  const files = new Map(outputs.map((file) => [file.path.replace(/^\.?\/?/, '/'), file]));
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/empty') return new Response('<!doctype html><title>empty</title>', HTML);
      const file = files.get(pathname === '/' ? '/index.html' : pathname);
      return file === undefined ? new Response('', { status: 404 }) : new Response(file);
    },
  });
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}

const HTML = { headers: { 'Content-Type': 'text/html' } };
