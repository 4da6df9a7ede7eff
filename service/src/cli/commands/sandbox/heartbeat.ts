// Calls back once a second until it is stopped, never twice at a time. A beat that fails is reported, once
// until one succeeds again, and the next is tried all the same.

const BEAT_MS = 1_000;

export interface Heartbeat {
  /** Resolves when the beat under way, if any, is over. */
  stop(): Promise<void>;
}

export function startHeartbeat(beat: () => Promise<void>, onFailure: (error: unknown) => void): Heartbeat {
  let running: Promise<void> | undefined;
  let isFailing = false;

  async function guardedBeat(): Promise<void> {
    try {
      await beat();
      isFailing = false;
    } catch (error) {
      if (!isFailing) onFailure(error);
      isFailing = true;
    }
  }

  const timer = setInterval(() => {
    running ??= guardedBeat().finally(() => {
      running = undefined;
    });
  }, BEAT_MS);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
