// Structured log: one JSON object per line. This file defines the format and the levels; the caller writes the lines.

import { type Clock, systemClock } from './clock.ts';

/** Ordered by severity. Log viewers recognise these numbers, which pino and bunyan use. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;
type Level = keyof typeof LEVELS;

export const LOG_LEVELS = [...(Object.keys(LEVELS) as Level[]), 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Logs fields and a message, or only a message. Fields must not contain secrets; pass an Error as `err`. */
export class Logger {
  readonly debug = this.#at('debug');
  readonly info = this.#at('info');
  readonly warn = this.#at('warn');
  readonly error = this.#at('error');
  readonly #write: (line: string) => void;
  readonly #clock: Clock;
  readonly #weightMin: number;
  /** Fields on every line: the process id and the constructor's `source`. */
  readonly #source: string;
  /** The formatted time is cached, because many lines share a millisecond. */
  #timeMs = Number.NaN;
  #time = '';

  constructor(
    level: LogLevel,
    write: (line: string) => void,
    clock: Clock = systemClock,
    source: Readonly<Record<string, number>> = {},
  ) {
    this.#weightMin = level === 'silent' ? Number.POSITIVE_INFINITY : LEVELS[level];
    this.#write = write;
    this.#clock = clock;
    this.#source = `,${JSON.stringify({ pid: process.pid, ...source }).slice(1, -1)}`;
  }

  /** Logs fields that are already serialised, such as `,"status":200`. Faster, for frequent lines. */
  serialised(level: Level, fields: string): void {
    if (LEVELS[level] < this.#weightMin) return;
    this.#write(`{"level":${LEVELS[level]}${this.#timeField()}${this.#source}${fields}}\n`);
  }

  /** Writes lines that another thread logged. */
  relay(lines: string): void {
    this.#write(lines);
  }

  #at(level: Level): (fields: object | string, message?: string) => void {
    return (given, message) => {
      if (LEVELS[level] < this.#weightMin) return;
      const [fields, msg] = typeof given === 'string' ? [{}, given] : [given, message];
      const described = 'err' in fields ? { ...fields, err: describe(fields.err) } : fields;
      const inner = JSON.stringify(described).slice(1, -1);
      const end = msg === undefined ? '' : `,"msg":${JSON.stringify(msg)}`;
      this.serialised(level, `${inner === '' ? '' : ','}${inner}${end}`);
    };
  }

  #timeField(): string {
    const nowMs = this.#clock();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#time = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return this.#time;
  }
}

/** Selects fields explicitly, because database driver errors may contain query values. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    stack: stackOf(error),
    ...(typeof code === 'string' ? { code } : {}),
  };
}

/** Returns the stack of an error, followed by the stacks of its causes. */
function stackOf(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\ncaused by: ${stackOf(error.cause)}` : stack;
}

const WINDOW_MS = 10_000;
const LINES_MAX = 10;

type Fields = Readonly<Record<string, unknown>>;

/** Limits how often a line is logged. The next line that is logged contains the number of those that were suppressed. */
export function boundedLog(
  write: (fields: Fields) => void,
  monotonicMs: () => number = () => performance.now(),
): (fields: Fields) => void {
  let windowEndMs = 0;
  let lines = 0;
  let suppressed = 0;
  return (fields) => {
    const nowMs = monotonicMs();
    if (nowMs >= windowEndMs) {
      windowEndMs = nowMs + WINDOW_MS;
      lines = 0;
    }
    if (lines === LINES_MAX) {
      suppressed++;
      return;
    }
    lines++;
    write(suppressed === 0 ? fields : { ...fields, suppressed });
    suppressed = 0;
  };
}
