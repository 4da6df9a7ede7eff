// A clock that several processes share and that runs faster than real time, so that months pass in a minute.

export interface VirtualTime {
  /** When the virtual clock started, in real time and in virtual time. */
  readonly realMs: number;
  readonly virtualMs: number;
  readonly speed: number;
}

export function virtualClock({ realMs, virtualMs, speed }: VirtualTime) {
  return {
    now: () => Math.floor(virtualMs + (Date.now() - realMs) * speed),
    sleep: (ms: number) => Bun.sleep(ms / speed),
  };
}
