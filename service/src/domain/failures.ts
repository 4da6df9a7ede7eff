// How work fails inside the program. A command turns each into one sentence and an exit code; HTTP shows callers the
// errors of api-errors.ts instead.

/** The database cannot be reached or does not answer in time. Storage throws it; HTTP turns it into a 503. */
export class DatabaseUnavailable extends Error {
  override readonly name: string = 'DatabaseUnavailable';
}

/** Too many others wait for the database. It works: later requests may succeed. */
export class DatabaseOverloaded extends DatabaseUnavailable {
  override readonly name = 'DatabaseOverloaded';
}

/** The service that a command calls cannot be reached, or does not answer as it should. Exit code 1. */
export class ServiceFailure extends Error {
  override readonly name = 'ServiceFailure';
}

/** A command that cannot be carried out as given: bad usage or bad input. Exit code 2; nothing has changed. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
}

/** A command that a guard refuses. Exit code 3; nothing has changed. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** A fault that was found, and of which all has been said. Nothing has changed. */
export class FaultFound extends Error {
  override readonly name = 'FaultFound';
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
