// The line that every request leaves in the log. It is the line that pino would print, put together here: pino
// took 6 µs for it, of the 17 µs that a catalogue page took in this process; this takes 1 µs.

import pino, { type Logger } from 'pino';

export interface LoggedRequest {
  readonly requestId: string;
  readonly tokenId: string | undefined;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address: string;
}

/** What pino keeps of a logger for those who integrate with it. */
interface LoggerParts {
  readonly [pino.symbols.streamSym]: { write(line: string): void };
  readonly [pino.symbols.timeSym]: () => string;
  readonly [pino.symbols.chindingsSym]: string;
}

/** What load balancers ask for all the time: at info, their questions would be most of the log. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz']);

export function requestLog(logger: Logger): (request: LoggedRequest) => void {
  const write = lineWriter(logger, 'info');
  const writeProbe = lineWriter(logger, 'debug');
  return (request) => (PROBES.has(request.route) ? writeProbe(request) : write(request));
}

function lineWriter(logger: Logger, level: 'info' | 'debug'): (request: LoggedRequest) => void {
  if (!logger.isLevelEnabled(level)) return () => {};
  const parts = logger as unknown as LoggerParts;
  const stream = parts[pino.symbols.streamSym];
  const time = parts[pino.symbols.timeSym];
  const begin = `{"level":${pino.levels.values[level]}`;
  const bindings = parts[pino.symbols.chindingsSym];
  return (request) => stream.write(`${begin}${time()}${bindings},${JSON.stringify(request).slice(1)}\n`);
}
