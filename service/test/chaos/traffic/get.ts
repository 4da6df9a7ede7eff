/** Far longer than any response takes, even on a busy machine. */
const RESPONSE_MAX_MS = 60_000;

export interface GetOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The request fails if its response is not complete after this time. */
  readonly limitMs?: number;
}

/** Sends a GET request. */
export function get(
  url: string,
  { token, headers = {}, limitMs = RESPONSE_MAX_MS }: GetOptions = {},
): Promise<Response> {
  return fetch(url, {
    headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers },
    signal: AbortSignal.timeout(limitMs),
  });
}
