// Waiting for the order to stop, and for the end of whoever would give it.

/** Being told again by a supervisor is no news: systemd tells all processes, and then the first one tells its workers. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve());
    // Whoever presses Ctrl-C a second time does not want to wait.
    process.once('SIGINT', () => resolve());
  });
}

const LOOK_MS = 500;

/** Resolves when the process that started this one is gone, however it ended: nobody would ever stop this one then. */
export function untilOrphaned(parent: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, LOOK_MS);
    timer.unref();
  });
}
