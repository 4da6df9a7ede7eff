// Failures of commands. A command prints the message and exits with the code. HTTP errors are in api-errors.ts, and storage
// errors are in storage-error.ts.

/** The service that a command calls is unreachable or sends an invalid response. Exit code 1. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
}

/** Wrong usage or invalid input. Exit code 2; nothing has changed. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}

/** A safety check stopped the command. Exit code 3; nothing has changed. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** A problem that the command has already reported in full. Nothing has changed. */
export class FaultFound extends Error {
  override readonly name = 'FaultFound';
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
