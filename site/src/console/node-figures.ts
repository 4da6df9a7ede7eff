// A running node's figures for the overview. The figures are plain data, because the node sends them to the console's thread.

export interface RequestFigures {
  readonly requests: number;
  /** Responses with status 4xx. */
  readonly refused: number;
  /** Responses with status 5xx. */
  readonly failed: number;
}

interface MinuteFigures extends RequestFigures {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface RouteFigures extends RequestFigures {
  readonly route: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface HourFigures {
  /** An hour ago, or when the node started if that was later. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly all: RequestFigures;
  /** Busiest route first. */
  readonly routes: readonly RouteFigures[];
  /** Oldest minute first. The last minute has not ended yet. */
  readonly minutes: readonly MinuteFigures[];
}

export interface NodeFigures {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly hour: HourFigures;
  /** Configured number of workers. */
  readonly workers: number;
  readonly state: {
    readonly isReady: boolean;
    readonly isDatabaseUsable: boolean;
    readonly areClicksSpooled: boolean;
    readonly isClickDiskLow: boolean;
    readonly catalogueRevision: number | undefined;
    /** Undefined on SQLite. `rivals` are servers that accept writes although another has replaced them. */
    readonly cluster: { readonly rivals: readonly string[] } | undefined;
    /** Undefined if there is no replica. */
    readonly replica: { readonly isUsable: boolean; readonly lagMs: number } | undefined;
    readonly workers: { readonly ready: number; readonly restarts: number };
  };
}
