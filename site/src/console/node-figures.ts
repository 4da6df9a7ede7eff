// A running node's figures for the overview. The figures are plain data, because the node sends them to the console's thread.

export interface RequestFigures {
  readonly requests: number;
  /** Responses with status 4xx. */
  readonly refused: number;
  /** Responses with status 5xx. */
  readonly failed: number;
  /** 0 without requests. */
  readonly p99Ms: number;
}

/** Resources of the machine that the node needs. */
export interface MachineFigures {
  /** Resident memory of the node with all its workers. */
  readonly memoryBytes: number;
  /** Undefined if the file system does not report it. */
  readonly disk: { readonly free: number; readonly size: number } | undefined;
}

interface MinuteFigures extends RequestFigures {
  readonly fromMs: number;
  readonly untilMs: number;
  /** At the end of the minute. */
  readonly machine: MachineFigures;
}

interface RouteFigures extends RequestFigures {
  readonly route: string;
  readonly p50Ms: number;
}

export interface HourFigures {
  /** An hour ago, or when the node started if that was later. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly all: RequestFigures;
  readonly machine: MachineFigures;
  /** Busiest route first. */
  readonly routes: readonly RouteFigures[];
  /** Oldest minute first. The last minute has not ended yet. */
  readonly minutes: readonly MinuteFigures[];
}

/** What a health check found, and what to do. */
export interface HealthCheck {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'fault';
  readonly found: string;
  readonly advice?: string;
}

export interface NodeFigures {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly hour: HourFigures;
  /** Configured number of workers. */
  readonly workers: number;
  readonly state: {
    readonly isReady: boolean;
    readonly databaseStatus: { readonly state: 'usable' | 'unreachable' | 'corrupt' };
    /** The health checks. */
    readonly checks: readonly HealthCheck[];
    readonly catalogueRevision: number | undefined;
    /** Undefined if there is no replica. */
    readonly replica: { readonly isUsable: boolean; readonly lagMs: number } | undefined;
    readonly workers: { readonly ready: number; readonly restarts: number };
  };
}
