// Waits for a stop signal, and limits how long stopping takes.

/** Resolves on SIGTERM or SIGINT. Further SIGTERMs have no effect; a second SIGINT ends the process. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

/** Maximum time to stop, starting when the port closes. */
export const STOP_MAX_MS = 10_000;
/** Longest wait for open handles after everything else has been closed. */
export const LEFTOVERS_MAX_MS = 100;

/** Ends the process after the timeout, even if a database does not respond or the log is blocked. */
export function endWithin(timeoutMs: number, code?: number): void {
  setTimeout(() => process.exit(code), timeoutMs).unref();
}
