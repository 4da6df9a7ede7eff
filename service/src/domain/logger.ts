// The log: a JSON object on a line for each thing worth telling. This file says what a line looks like and which levels
// are logged; where lines go is the caller's choice.

import { type Clock, systemClock } from './clock.ts';

/** In the order of their weight. The numbers are those that readers of such logs know. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;
type Level = keyof typeof LEVELS;

/** The least level that is logged. */
export const LOG_LEVELS = [...(Object.keys(LEVELS) as Level[]), 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Takes fields and a message, or a message alone. Fields must hold nothing secret; an Error stands under `err`. */
export class Logger {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;
  readonly #weightMin: number;
  /** What stands in every line: the process, and what else is given. */
  readonly #source: string;
  /** Many lines share a millisecond. */
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

  debug(fields: object | string, message?: string): void {
    this.#log('debug', fields, message);
  }

  info(fields: object | string, message?: string): void {
    this.#log('info', fields, message);
  }

  warn(fields: object | string, message?: string): void {
    this.#log('warn', fields, message);
  }

  error(fields: object | string, message?: string): void {
    this.#log('error', fields, message);
  }

  #log(level: Level, given: object | string, message?: string): void {
    if (LEVELS[level] < this.#weightMin) return;
    const [fields, msg] = typeof given === 'string' ? [{}, given] : [given, message];
    const inner = JSON.stringify('err' in fields ? { ...fields, err: describe(fields.err) } : fields).slice(
      1,
      -1,
    );
    const end = msg === undefined ? '' : `,"msg":${JSON.stringify(msg)}`;
    this.#write(
      `{"level":${LEVELS[level]}${this.#timeField()}${this.#source}${inner === '' ? '' : ','}${inner}${end}}\n`,
    );
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

/** Of an error no other fields than these: those of a driver's error may hold the values of a query. */
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

/** The stack of an error and of what caused it. */
function stackOf(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\ncaused by: ${stackOf(error.cause)}` : stack;
}
