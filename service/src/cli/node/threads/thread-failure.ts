// Passes an error from one thread to another. postMessage alone would drop its class, which determines the exit code.

import { BadInput, Refused } from '@offerbook/wire/failures.ts';
import { isStorageError, StorageError, type StorageErrorKind } from '../../../domain/storage-error.ts';

export interface ThreadFailure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Set only for a StorageError. */
  readonly kind: StorageErrorKind | undefined;
}

const CLASSES: Readonly<Record<string, new (message: string) => Error>> = {
  BadInput,
  Refused,
};

export function toThreadFailure(error: unknown): ThreadFailure {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { name, message, stack, kind: isStorageError(error) ? error.kind : undefined };
}

export function fromThreadFailure({ name, message, stack, kind }: ThreadFailure): Error {
  const error = kind === undefined ? new (CLASSES[name] ?? Error)(message) : new StorageError(kind, message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
