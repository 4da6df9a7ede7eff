// Identifiers: RFC 9562 UUIDs of any version, lower case once they are inside. Ids made here are version 7.

declare const brand: unique symbol;
export type Uuid = string & { readonly [brand]: 'Uuid' };

export const UUID_PATTERN = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
/** As they are printed. */
export const PRINTED_UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function parseUuid(text: string): Uuid | undefined {
  return UUID_PATTERN.test(text) ? (text.toLowerCase() as Uuid) : undefined;
}

export function newUuid(): Uuid {
  return Bun.randomUUIDv7() as Uuid;
}
