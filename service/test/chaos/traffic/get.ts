/** Far longer than any response takes, even on a busy machine. */
const RESPONSE_MAX_MS = 60_000;

interface GetOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a GET request, which fails if its response is not complete after a minute. */
export function get(url: string, { token, headers = {} }: GetOptions = {}): Promise<Response> {
  return fetch(url, {
    headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers },
    signal: AbortSignal.timeout(RESPONSE_MAX_MS),
  });
}
