// The result of a request before it becomes a Response. Only `respond` in app.ts converts it, so the headers of every response
// are added in one place.

export interface Reply {
  readonly status: number;
  /**
   * A Headers object belongs to a cached reply. Headers that differ between responses are set in it each time, before the
   * Response copies it. Creating a Headers object per response would make cached pages 5 % slower.
   */
  readonly headers: Headers | Readonly<Record<string, string>>;
  /** Headers of this response only. For a cached reply the names must be the same each time, so that no value remains. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  /** An array contains the parts of the body. */
  readonly body: Blob | readonly Uint8Array<ArrayBuffer>[] | string | null;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}
