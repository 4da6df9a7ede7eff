// A document as it is stored: the JSON string that is sent.

import type { Uuid } from '@offerbook/wire/uuid.ts';

export interface StoredDocument {
  readonly id: Uuid;
  readonly document: string;
}
