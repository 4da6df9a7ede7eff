// An error on its way from one thread to another. It would lose its class, by which commands choose their exit code.

import { BadInput, DatabaseUnavailable, Refused } from '../../domain/failures.ts';

export interface ThreadFailure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
}

const CLASSES: Readonly<Record<string, new (message: string) => Error>> = {
  BadInput,
  DatabaseUnavailable,
  Refused,
};

export function toThreadFailure(error: unknown): ThreadFailure {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { name, message, stack };
}

export function fromThreadFailure({ name, message, stack }: ThreadFailure): Error {
  const error = new (CLASSES[name] ?? Error)(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
