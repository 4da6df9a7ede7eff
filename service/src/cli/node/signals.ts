// Waiting for the order to stop, and ending once it was given.

/** Being told again by a supervisor changes nothing. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve());
    // Whoever presses Ctrl-C a second time does not want to wait.
    process.once('SIGINT', () => resolve());
  });
}

/** How long a stop may take, from the moment in which the port is closed. */
export const STOP_MAX_MS = 10_000;
/** How long what is still open after everything was closed may keep the process. */
export const LEFTOVERS_MAX_MS = 100;

/**
 * Ends the process if it is still there by then. Nothing that is only waited for may keep it longer: neither a database
 * that does not answer nor a log that nobody reads.
 */
export function endWithin(timeoutMs: number, code?: number): void {
  setTimeout(() => process.exit(code), timeoutMs).unref();
}
