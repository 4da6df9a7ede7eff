// A stored document: the JSON string that clients receive.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface StoredDocument {
  readonly id: Uuid;
  readonly document: string;
}
