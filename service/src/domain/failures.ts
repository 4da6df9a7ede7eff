// Internal failures. A command prints one sentence and sets the exit code; HTTP returns the errors in api-errors.ts
// instead.

/** The database is unreachable or too slow. Storage throws it; HTTP returns 503. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable';
}

/** Too many others wait for the database. It works: later requests may succeed. */
export class DatabaseOverloaded extends DatabaseUnavailable {
  override readonly name = 'DatabaseOverloaded';
}

/** The service that a command calls is unreachable or responds incorrectly. Exit code 1. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
}

/** Wrong usage or invalid input. Exit code 2; nothing has changed. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}

/** A safety check refused the command. Exit code 3; nothing has changed. */
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
