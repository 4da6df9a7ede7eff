// What a stage of the request produces: a status, headers and a body. Only `respond` in app.ts turns it into
// a Response, so that headers that belong on every answer are added in one place.

export interface Reply {
  readonly status: number;
  /** May be shared with other replies: what only this one has goes into `ownHeaders`. */
  readonly headers: Headers | Readonly<Record<string, string>>;
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  /** A list is of parts, to be sent one after the other. */
  readonly body: Blob | Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[] | string | null;
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(value) };
}
