// A response before app.ts adds the common headers and converts it to a Response object.

export interface Reply {
  readonly status: number;
  /** app.ts adds headers to this object, even if the reply is cached: a copy would make cached pages 5 % slower. */
  readonly headers: Headers;
  /** Values that `headers` of a cached reply already contains. Setting a header again would make cached pages slower. */
  readonly sent?: ReturnType<typeof noneSent>;
  /** True if shared caches may store the response. It then has no Request-Id, which would reach other clients. */
  readonly isShared?: boolean;
  /** The Cache-Control and Link headers of a cached reply, which can differ between its responses. */
  readonly cacheControl?: string;
  readonly link?: string | undefined;
  /** An array contains the parts of the body. */
  readonly body: Blob | readonly Uint8Array<ArrayBuffer>[] | string | null;
}

/** The headers that earlier responses with a cached reply have set. `hasCommon` is true if those of all its responses are set. */
export function noneSent() {
  return { hasCommon: false, cacheControl: '', link: '' };
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: new Headers({ 'Content-Type': 'application/json', ...headers }),
    body: JSON.stringify(value),
  };
}

/** Redirects a submitted form to a page that can be loaded again. */
export function seeOther(location: string): Reply {
  return {
    status: 303,
    headers: new Headers({ Location: location, 'Cache-Control': 'no-store' }),
    body: null,
  };
}
