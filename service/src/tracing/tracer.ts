// Creates spans: named operations with a duration and a parent. A request that is not sampled has no spans.

import type { Clock } from '../domain/clock.ts';
import type { Sampling } from './tracing-settings.ts';

/** Numbers defined by OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const;
type SpanKind = keyof typeof SPAN_KINDS;

type DatabaseOperation = 'SELECT' | 'INSERT' | 'UPDATE';

export type Attributes = Readonly<Record<string, string | number>>;

export interface FinishedSpan extends Omit<Span, 'options' | 'end' | 'run'> {
  readonly name: string;
  readonly durationMs: number;
  readonly isError: boolean;
}

interface TracerOptions {
  readonly sampling: Sampling;
  /** Attributes of every database span. */
  readonly database: Attributes;
  readonly onEnd: (span: FinishedSpan) => void;
  readonly clock: Clock;
}

export type Tracer = ReturnType<typeof buildTracer>;

export function buildTracer(options: TracerOptions) {
  return {
    /** Starts a request's span. Returns undefined if the request is not sampled. */
    beginRequest(parent: TraceParent | undefined): Span | undefined {
      return isSampled(options.sampling, parent) ? new Span(options, 'server', parent) : undefined;
    },
    /** Runs background work in its own span. Always sampled, because background work is rare. */
    async trace<T>(name: string, work: (span: Span) => Promise<T>): Promise<T> {
      const span = new Span(options, 'internal');
      return span.run(name, () => work(span));
    },
  };
}

function isSampled({ ratio, followsParent }: Sampling, parent: TraceParent | undefined): boolean {
  if (parent === undefined) return Math.random() < ratio;
  if (followsParent) return parent.isSampled;
  // The last 13 digits of a trace id are random. Services that sample on these digits all select the same traces.
  return Number.parseInt(parent.traceId.slice(-13), 16) >= (1 - ratio) * 16 ** 13;
}

export class Span {
  readonly id = randomHex(8);
  readonly traceId: string;
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly attributes: Record<string, string | number>;
  readonly options: TracerOptions;
  readonly #startedAtMs = performance.now();

  /** A child span derives its start time from its parent, so that it never appears to start before its parent. */
  constructor(
    options: TracerOptions,
    kind: SpanKind,
    parent?: Span | TraceParent,
    attributes: Attributes = {},
  ) {
    this.options = options;
    this.kind = kind;
    this.traceId = parent?.traceId ?? randomHex(16);
    this.parentId = parent instanceof Span ? parent.id : parent?.spanId;
    this.startMs =
      parent instanceof Span ? parent.startMs + this.#startedAtMs - parent.#startedAtMs : options.clock();
    this.attributes = { ...attributes };
  }

  end(name: string, isError = false): void {
    const durationMs = performance.now() - this.#startedAtMs;
    this.options.onEnd({ ...this, name, durationMs, isError });
  }

  /** Runs the work and ends the span with its outcome. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.end(name);
      return result;
    } catch (error) {
      // Omit the error message, which may contain user data.
      this.attributes['error.type'] = error instanceof Error ? error.name : '_OTHER';
      this.end(name, true);
      throw error;
    }
  }
}

/** Traces database work as one child span of the request, even if it runs several statements. */
export function useDatabase<T>(
  request: Span | undefined,
  operation: DatabaseOperation,
  table: string,
  work: () => Promise<T>,
): Promise<T> {
  if (request === undefined) return work();
  const span = new Span(request.options, 'client', request, {
    ...request.options.database,
    'db.operation.name': operation,
    'db.collection.name': table,
  });
  return span.run(`${operation} ${table}`, work);
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}

/** A request's trace and the client's sampling decision, from the traceparent header (W3C Trace Context). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Later versions may append fields after the flags; version ff is forbidden. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Returns undefined if the header is invalid; the request then starts a new trace. */
export function parseTraceParent(text: string): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(text.trim()) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
