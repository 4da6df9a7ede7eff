// The result of a request before app.ts adds the common headers and converts it to a Response.

export interface Reply {
  readonly status: number;
  /**
   * app.ts sets further headers in this object, also if the reply is cached. A copy per response would make cached pages 5 %
   * slower.
   */
  readonly headers: Headers;
  /** Headers of one response for a cached reply. Every response must have the same names, or old values would remain. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  /** An array contains the parts of the body. */
  readonly body: Blob | readonly Uint8Array<ArrayBuffer>[] | string | null;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: new Headers({ 'Content-Type': 'application/json', ...headers }),
    body: JSON.stringify(value),
  };
}
