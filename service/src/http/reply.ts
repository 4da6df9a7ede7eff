// A response before app.ts adds the common headers and converts it to a Response object.

export interface Reply {
  readonly status: number;
  /**
   * app.ts adds headers to this object, even if the reply is cached: copying it for each response would make cached pages 5
   * % slower.
   */
  readonly headers: Headers;
  /**
   * Header values that earlier responses with the same cached reply have set. Setting them again would make cached pages
   * slower.
   */
  readonly sent?: Record<string, string>;
  /** True if shared caches may store the response. It then has no Request-Id, which would reach other clients. */
  readonly isShared?: boolean;
  /**
   * Headers that differ between responses with the same cached reply. Every response must set the same names, or old values
   * would remain.
   */
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
