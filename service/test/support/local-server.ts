/** An HTTP or HTTPS server on a free port of loopback, which stands for another service. */
export function localServer(
  fetch: (request: Request) => Response | Promise<Response>,
  tls?: { readonly cert: string | Bun.BunFile; readonly key: string | Bun.BunFile },
) {
  const options = tls === undefined ? {} : { tls };
  return Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch, ...options });
}
