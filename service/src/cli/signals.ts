// Waiting for the order to stop, and for the end of whoever would give it.

export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
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
