// What a stage of the request produces: a status, headers and a body. Only `respond` in app.ts turns it into
// a Response, so that headers that belong on every answer are added in one place.

export interface Reply {
  readonly status: number;
  /**
   * A Headers object belongs to a reply that may be kept for others. What differs from one answer to the next is set in
   * it each time, before the Response takes a copy. On the copy it would take an object more, and a twentieth of a
   * page's time.
   */
  readonly headers: Headers | Readonly<Record<string, string>>;
  /** What is not the same each time. A reply that is kept has the same names here each time, so that none is left over. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  /** A list is of parts, to be sent one after the other. */
  readonly body: Blob | readonly Uint8Array<ArrayBuffer>[] | string | null;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}
